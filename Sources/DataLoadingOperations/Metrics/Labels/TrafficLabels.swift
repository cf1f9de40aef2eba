// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The labels of bytes that loads moved.
struct TrafficLabels: LabelSet {
    /// OpenTelemetry's words, as the client sees it.
    enum Direction: String, CaseIterable, Sendable {
        case receive, transmit
    }

    let direction: Direction
    /// The host without its port, which is no label here.
    let host: HostLabel
    let source: SourceLabel

    func labels(_ names: LabelNames) -> [Label] {
        let all = [
            Label("network.io.direction", direction.rawValue), names.hosts.addressLabel(host),
            source.label(names),
        ]
        return all.compactMap(\.self)
    }
}
