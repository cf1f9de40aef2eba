// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

extension MetricVisitor {
    /// Adds the fallback addresses of the hosts that have labels of their own, the first ones where
    /// there are too many: a sum of states says nothing.
    func add(_ states: [AddressState], _ hosts: HostTable, maxSeries: Int) {
        let labelled = states.lazy.compactMap { state in
            AddressLabels(state, hosts).map { (labels: $0, state: state) }
        }
        let shown = Array(labelled.prefix(max(0, maxSeries)))
        guard !shown.isEmpty else { return }
        begin(.addressAvailable)
        for (labels, state) in shown {
            add(.whole(state.condition == .inUse ? 1 : 0), labels)
        }
        begin(.addressEjections)
        for (labels, state) in shown { add(.whole(state.ejections), labels) }
    }
}

extension AddressLabels {
    fileprivate init?(_ state: AddressState, _ hosts: HostTable) {
        let label = hosts.label(forURL: "https://\(state.host)")
        guard label != .other else { return nil }
        self.init(host: label.withoutPort, address: state.address)
    }
}
