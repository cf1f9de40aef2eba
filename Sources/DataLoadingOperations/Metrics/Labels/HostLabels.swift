// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The labels of a host and its port.
struct HostLabels: LabelSet {
    let host: HostLabel

    func labels(_ names: LabelNames) -> [Label] { names.hosts.labels(host) }
}
