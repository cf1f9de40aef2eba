// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoading
public import Foundation

/// Where metrics and spans are sent, by OTLP over HTTP in JSON.
///
/// ```swift
/// settings.push = TelemetryPush(endpoint: collector)  // http://127.0.0.1:4318
/// ```
/// A service of its own sends them, so that telemetry takes no slot of the daemon's loads, and is not
/// in its metrics. Whatever a collector does, the memory is bounded: what it does not take in time is
/// dropped, and counted in `dataloading.telemetry.dropped`.
public struct TelemetryPush: Sendable {
    /// The collector, to whose path `/v1/metrics` and `/v1/traces` are added.
    public var endpoint: URL {
        didSet { (metricsEndpoint, tracesEndpoint) = (nil, nil) }
    }
    /// Fields of each request, for example a key; default none.
    public var headers = HTTPHeaders()
    /// The time from one push of the metrics to the next; default 60 s, and less than a second counts
    /// as one.
    public var interval = Duration.seconds(60)
    /// Whether metrics are sent; default true.
    public var sendsMetrics = true
    /// Whether the spans of sampled traces are sent; default true.
    public var sendsTraces = true
    /// The maximum time for a connection, and without a byte; default 10 s.
    public var timeout = Duration.seconds(10)
    /// The authorities, pins and client certificates for the collector; default nil: the system's.
    public var serverTrustPolicy: ServerTrustPolicy?
    /// The URL for metrics, where it is not made from `endpoint`.
    var metricsEndpoint: URL?
    /// The URL for spans, where it is not made from `endpoint`.
    var tracesEndpoint: URL?

    /// Makes a push with the defaults above.
    public init(endpoint: URL) {
        self.endpoint = endpoint
    }

    var metricsURL: URL { metricsEndpoint ?? endpoint.appendingPathComponent("v1/metrics") }

    var tracesURL: URL { tracesEndpoint ?? endpoint.appendingPathComponent("v1/traces") }

    /// The name of a setting with which no request can be made; nil without one.
    var fault: String? {
        let urls = (sendsMetrics ? [metricsURL] : []) + (sendsTraces ? [tracesURL] : [])
        guard urls.allSatisfy({ (try? RequestTarget($0)) != nil }) else {
            return "TelemetryPush.endpoint"
        }
        do {
            for field in headers.fields { try RequestCheck.check(field) }
        } catch {
            return "TelemetryPush.headers"
        }
        guard timeout > .zero else { return "TelemetryPush.timeout" }
        do { try serverTrustPolicy?.validate() } catch { return "TelemetryPush.serverTrustPolicy" }
        return nil
    }
}
