// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The labels of what was dropped.
struct DropLabels: LabelSet {
    let signal: DropSignal

    func labels(_ names: LabelNames) -> [Label] { [Label("dataloading.signal", signal.rawValue)] }
}

/// What may be dropped, because its reader is slow or does not answer.
enum DropSignal: String, CaseIterable, Sendable {
    /// Lines of the log.
    case logs
    /// Reports for a consumption observer.
    case notices
    /// Spans, for a collector.
    case traces
    /// Data points of metrics, for a collector.
    case metrics
}

/// The labels that say which build runs.
struct BuildLabels: LabelSet {
    /// The version of the library, which the changelog names.
    static let version = "0.1.0"
    /// The name of the library, as that of what sends telemetry.
    static let library = "DataLoading"

    /// What OpenTelemetry's resources say of the library that sends them (`telemetry.sdk.*`).
    static let ofResource = [
        Label("telemetry.sdk.name", library), Label("telemetry.sdk.language", "swift"),
        Label("telemetry.sdk.version", version),
    ]

    func labels(_ names: LabelNames) -> [Label] { [Label("version", Self.version)] }
}

/// The labels that say which service is measured.
struct TargetLabels: LabelSet {
    let serviceName: String
    let serviceVersion: String?
    let instance: String

    func labels(_ names: LabelNames) -> [Label] {
        let all = [
            Label("service.name", serviceName), Label("service.instance.id", instance),
            serviceVersion.map { Label("service.version", $0) },
        ]
        return all.compactMap(\.self)
    }
}
