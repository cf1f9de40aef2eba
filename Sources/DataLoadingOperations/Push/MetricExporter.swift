// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

/// Sends the metrics again and again, at the times of an interval.
final class MetricExporter: Sendable {
    private struct State: Sendable {
        var isOver = false
        var isSending = false
        var timer: TimerQueue.Entry?
    }

    private static let shortestInterval = Duration.seconds(1)
    private let collector: Collector
    private let url: URL
    private let interval: Duration
    private let resource: [Label]
    private let registry: MetricRegistry
    private let drops: TelemetryDrops
    private let timekeeper: any Timekeeper
    /// The start of the service, in nanoseconds since the Unix epoch.
    private let begun: Int64
    private let state = Locked(State())

    init(
        _ collector: Collector, _ push: TelemetryPush, of resource: [Label],
        _ registry: MetricRegistry, _ drops: TelemetryDrops, _ timekeeper: any Timekeeper
    ) {
        self.collector = collector
        url = push.metricsURL
        interval = max(Self.shortestInterval, push.interval)
        self.resource = resource
        self.registry = registry
        self.drops = drops
        self.timekeeper = timekeeper
        begun = timekeeper.date.nanosecondsSinceEpoch
    }

    func start() { schedule() }

    /// Ends the pushes.
    func stop() {
        let timer = state.withLock { state in
            state.isOver = true
            return state.timer.take()
        }
        if let timer { collector.timerQueue.cancel(timer) }
    }

    /// Sends the metrics once more, and not again.
    func sendLast() async {
        stop()
        await send()
    }

    private func schedule() {
        let queue = collector.timerQueue
        let entry = queue.schedule(at: queue.now + interval, for: self, tag: 0)
        let isOver = state.withLock { state in
            state.timer = entry
            return state.isOver
        }
        if isOver { queue.cancel(entry) }
    }

    private func send() async {
        let request = MetricsRequest(
            registry.names, from: begun, at: timekeeper.date.nanosecondsSinceEpoch)
        registry.visit(request)
        let bytes = request.bytes(of: resource)
        drops.add(await collector.send(bytes, of: request.count, to: url), of: .metrics)
    }
}

extension MetricExporter: TimerTarget {
    func timerFired(_ tag: Int) {
        schedule()
        // A collector that is slower than the interval gets the next values instead.
        let isFree = state.withLock { state in
            defer { state.isSending = true }
            return !state.isSending && !state.isOver
        }
        guard isFree else { return }
        Task {
            await send()
            state.withLock { $0.isSending = false }
        }
    }
}
