// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import Foundation

/// Sends metrics and spans to a collector, from the start of a service to its end.
///
/// It has no thread: one alarm is set for what is due next.
final class TelemetryExporter: Sendable {
    /// The time for the last push.
    static let lastLimit = Duration.seconds(2)

    /// Sends spans; nil when none are sent.
    let spans: SpanExporter?
    private let metrics: MetricExporter?
    private let collector: Collector
    private let drops = TelemetryDrops()

    /// Makes an exporter of a registry's metrics.
    ///
    /// - Parameters:
    ///   - push: Where to, and what.
    ///   - attributes: Further attributes of the service that is measured.
    ///   - registry: The metrics; what is dropped is added to them.
    ///   - transport: The transport of a test; nil for the usual one.
    ///   - timekeeper: The clock.
    init(
        _ push: TelemetryPush, attributes: [Label], of registry: MetricRegistry,
        transport: (any Transport)?, timekeeper: any Timekeeper
    ) {
        let collector = Collector(push, transport, timekeeper)
        let own = registry.target.labels(registry.names) + BuildLabels.ofResource
        let resource = own + attributes.filter { label in !own.contains { $0.name == label.name } }
        self.collector = collector
        spans =
            push.sendsTraces ? SpanExporter(collector, push.tracesURL, of: resource, drops) : nil
        metrics =
            push.sendsMetrics
            ? MetricExporter(collector, push, of: resource, registry, drops, timekeeper) : nil
        registry.observe(drops)
    }

    // The timer of the collector holds what sends metrics, which holds the collector.
    deinit {
        metrics?.stop()
    }

    func start() {
        spans?.start()
        metrics?.start()
    }

    /// Sends what waits and the metrics once more, in two seconds at most.
    func shutDown() async {
        let timer = collector.timerQueue
        let end = timer.now + Self.lastLimit
        let last = Task { [spans, metrics] in
            async let rest: Void? = spans?.sendRest()
            await metrics?.sendLast()
            await rest
        }
        _ = await timer.wait(atMost: Self.lastLimit) { await last.value }
        await collector.shutDown(gracePeriod: max(.zero, end - timer.now))
        // What is left fails at once, and is counted.
        await last.value
    }
}
