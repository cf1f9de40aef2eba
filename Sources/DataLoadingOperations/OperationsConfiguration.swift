// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingSupport
public import Foundation

/// How a daemon is watched: what it is called, which hosts its metrics name, where its log goes.
public struct OperationsConfiguration: Sendable, OpaquelyMirrored {
    /// Which hosts have labels of their own in metrics, at most 64; all others are "_OTHER".
    public enum LabelledHosts: Hashable, Sendable {
        /// Those that have a rate or fallback addresses when the service is instrumented, after each
        /// `reload(_:)`, and when metrics are read; a host that has lost them keeps its label.
        case configured
        /// These, as "api.example.com" or "[::1]:8443".
        case only([String])
        /// None.
        case none
    }

    /// The name of the service, for `target_info`; default: `OTEL_SERVICE_NAME`, or else the name of
    /// the program.
    public var serviceName: String
    /// Its version; default: that of `OTEL_RESOURCE_ATTRIBUTES`, or else nil, which is not told.
    public var serviceVersion: String?
    /// What tells its instances apart; default: the host's name and the process's number.
    public var instance: String
    /// The hosts with labels of their own; default: those that are configured.
    ///
    /// Hosts that a server chooses, as by a redirect, never are: each would be a series of its own.
    public var labelledHosts = LabelledHosts.configured
    /// The maximum number of label sets of a metric, 1 to 10,000; default 200.
    ///
    /// What finds no room is counted in one more series, with the label
    /// `otel_metric_overflow="true"`.
    public var seriesLimit = 200
    /// The log of loads; default nil: none.
    public var log: AccessLog?
    /// Where operators are answered over HTTP; default nil: no socket is opened.
    public var endpoint: OperationsEndpoint?
    /// Where metrics and spans are sent; nil sends nothing and runs no timer.
    ///
    /// The default is what `OTEL_EXPORTER_OTLP_ENDPOINT` and its kin say, nil without them: a daemon
    /// that must not send whatever its environment says sets nil.
    public var push: TelemetryPush?
    /// Which requests belong to a trace; default ``Tracing/whenAsked``.
    public var tracing = Tracing.whenAsked
    /// The hosts that may learn of a trace though a redirect leads to them, as "cdn.example.com" or
    /// "cdn.example.com:8443"; default none.
    public var propagatesTo: Set<String> = []
    /// Whether a load with a trace is a span too, with its attempts inside and its waits as events;
    /// default false.
    ///
    /// It has an effect where spans are sent.
    public var recordsLoadSpans = false
    /// What `OTEL_RESOURCE_ATTRIBUTES` says besides.
    let resourceAttributes: [Label]
    /// The names of malformed variables.
    let malformedVariables: [String]
    /// Whether the memory of the process, with its tokens, is kept out of core dumps; default true.
    ///
    /// `Operations.start(for:)` then sets the limit of core files to zero and, on Linux, empties
    /// `/proc/self/coredump_filter`, for the whole process and those that it starts. A handler that
    /// the kernel pipes dumps to, such as systemd-coredump, gets one with registers and without
    /// memory. It does not keep a debugger, or a process that may read `/proc/PID/mem`, from reading
    /// the memory of the running process, and it does not keep memory out of swap.
    ///
    /// Swift's own report of a crash has registers and the memory at them. `SWIFT_BACKTRACE=enable=no`
    /// in the environment turns it off. While it is on, the first `SIGABRT`, such as that of systemd's
    /// watchdog, does not end the process.
    public var forbidsCoreDumps = true
    /// Those of the environment that are read later; others may be secrets.
    let variables: [String: String]
    private static let kept: Set = [
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "CREDENTIALS_DIRECTORY",
    ]

    /// Makes a configuration from the environment of the process.
    ///
    /// `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID` are what systemd sets for a service of
    /// `Type=notify`, and `CREDENTIALS_DIRECTORY` for one with credentials; the start removes the first
    /// three from the environment. `OTEL_SERVICE_NAME` names the
    /// service, `OTEL_RESOURCE_ATTRIBUTES` describes it, and `OTEL_EXPORTER_OTLP_ENDPOINT`, or the same
    /// with `METRICS` or `TRACES` before `ENDPOINT`, sets `push`, with `OTEL_EXPORTER_OTLP_HEADERS`,
    /// `OTEL_EXPORTER_OTLP_TIMEOUT`, `OTEL_METRIC_EXPORT_INTERVAL`, and the files that
    /// `OTEL_EXPORTER_OTLP_CERTIFICATE`, `OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE` and
    /// `OTEL_EXPORTER_OTLP_CLIENT_KEY` name. Nothing else is read, and nothing later. With a malformed
    /// one of OpenTelemetry's variables ``Operations/start(for:)`` throws.
    public init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        let process = ProcessInfo.processInfo
        let telemetry = TelemetryVariables(environment)
        serviceName = telemetry.serviceName ?? process.processName
        serviceVersion = telemetry.attribute("service.version")
        instance =
            telemetry.attribute("service.instance.id")
            ?? "\(process.hostName):\(process.processIdentifier)"
        push = telemetry.push
        resourceAttributes = telemetry.resource
        malformedVariables = telemetry.malformed
        variables = environment.filter { Self.kept.contains($0.key) }
    }
}
