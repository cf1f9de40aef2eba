// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The labels of a credential: the name of its authoriser, which the program chooses.
struct CredentialLabels: LabelSet {
    let authoriser: String

    func labels(_ names: LabelNames) -> [Label] { [Label("dataloading.authoriser", authoriser)] }
}
