// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

extension MetricRegistry {
    /// The number of attempts that run, by host.
    var activeRequests: [HostLabel: Int64] {
        stripesNow.flatMap(\.activeRequests.series).reduce(into: [:]) { sums, series in
            sums[series.0.host, default: 0] += series.1.number
        }
    }
}

extension MetricVisitor {
    /// Adds the open connections to each host.
    ///
    /// As many are active as attempts run, because over HTTP/1.1 each attempt has one.
    func add(_ connections: [Origin: Int], running: [HostLabel: Int64], _ hosts: HostTable) {
        let byHost = connections.reduce(into: [:] as [HostLabel: Int64]) { sums, connection in
            let host = hosts.label(forURL: connection.key.description)
            sums[host, default: 0] += Int64(connection.value)
        }
        // Zeros too, of hosts that had attempts.
        let all = Set(byHost.keys).union(running.keys)
        guard !all.isEmpty else { return }
        begin(.openConnections)
        for host in all {
            let open = byHost[host] ?? 0
            let active = min(open, max(0, running[host] ?? 0))
            add(.whole(active), ConnectionLabels(state: .active, host: host))
            add(.whole(open - active), ConnectionLabels(state: .idle, host: host))
        }
    }
}
