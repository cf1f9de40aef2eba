// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The labels of a rate: its host, and the part of it, which a configuration names.
struct RuleLabels: LabelSet {
    let host: HostLabel
    let part: String?

    func labels(_ names: LabelNames) -> [Label] {
        names.hosts.labels(host) + (part.map { [Label("dataloading.rule", $0)] } ?? [])
    }
}
