// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Why a benchmark cannot go on, in words for whoever started it.
struct Complaint: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
