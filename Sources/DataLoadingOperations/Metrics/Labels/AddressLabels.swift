// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The labels of a fallback address, which the configuration names.
struct AddressLabels: LabelSet {
    /// The host without its port, which is no label here.
    let host: HostLabel
    let address: String

    func labels(_ names: LabelNames) -> [Label] {
        [names.hosts.addressLabel(host), Label("network.peer.address", address.cutForLabel)]
    }
}
