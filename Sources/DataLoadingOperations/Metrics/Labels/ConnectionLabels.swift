// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The labels of open connections.
struct ConnectionLabels: LabelSet {
    /// OpenTelemetry's words.
    enum State: String, CaseIterable, Sendable {
        case active, idle
    }

    let state: State
    let host: HostLabel

    func labels(_ names: LabelNames) -> [Label] {
        [Label("http.connection.state", state.rawValue)] + names.hosts.labels(host)
    }
}
