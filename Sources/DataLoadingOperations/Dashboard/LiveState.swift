// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import Foundation

/// Collects what the dashboard shows: the last loads, and figures of each feature over ten minutes.
///
/// It has no timer and no thread, and its memory does not grow with the number of loads. A load costs
/// the same whatever was collected before: what it is shown as is written when somebody looks.
final class LiveState: LiveFeed, AttemptListener, ConsumptionObserver {
    private struct State: Sendable {
        var pending = PendingAttempts()
        var loads = LoadRing()
        var features = FeatureTable()
        var totals = LiveTotals()
        var sources: Sources?
    }

    /// What the snapshot asks for when somebody looks.
    private struct Sources: Sendable {
        let service: @Sendable () -> ServiceSnapshot?
        let log: @Sendable () -> LogState?
    }

    private let timekeeper: any Timekeeper
    private let start: Instant
    private let state = Locked(State())

    init(_ timekeeper: any Timekeeper = SystemTimekeeper()) {
        self.timekeeper = timekeeper
        start = timekeeper.now
    }

    /// Sets where the state of the service comes from; before, the snapshot says that none runs.
    func show(
        _ service: @escaping @Sendable () -> ServiceSnapshot?,
        log: @escaping @Sendable () -> LogState? = { nil }
    ) {
        let sources = Sources(service: service, log: log)
        state.withLock { $0.sources = sources }
    }

    func attemptEnded(_ attempt: AttemptRecord) {
        let kept = LiveAttempt(attempt)
        state.withLock { state in
            state.totals.countAttempt()
            // A request that no load makes is not shown.
            if attempt.context.load != 0 { state.pending.add(kept, of: attempt.context.load) }
        }
    }

    func endedRequest(
        with response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64
    ) {
        let (now, date) = (timekeeper.now, timekeeper.date)
        let second = Self.second(at: now, since: start)
        var load = EndedLoad(
            response, bytesDownloaded: bytesDownloaded, bytesUploaded: bytesUploaded, at: now, date)
        state.withLock { state in
            load.attempts = state.pending.take(response.metrics.load)
            state.loads.append(load)
            state.totals.add(
                load.outcome, down: bytesDownloaded, up: bytesUploaded, in: second)
            state.features.add(
                load, bytes: bytesDownloaded.addingSaturated(bytesUploaded), in: second)
        }
    }

    /// The state as JSON in one line, of at most 16 KiB.
    func snapshot() -> [UInt8] {
        // The collections are copied when loads change them meanwhile; nothing is written under the
        // lock.
        let state = state.withLock { $0 }
        let (now, date) = (timekeeper.now, timekeeper.date)
        let view = LiveSnapshot(
            date: date, uptime: now - start, second: Self.second(at: now, since: start),
            service: state.sources?.service(), log: state.sources?.log(),
            features: state.features.features, totals: state.totals)
        return view.json
    }

    func loads(after number: Int64) -> (data: [UInt8], last: Int64)? {
        let ring = state.withLock { $0.loads }
        let batch = ring.loads(after: number)
        guard let last = batch.last?.number else { return nil }
        var json = JSONWriter()
        json.array(of: batch) { json, entry in
            json.object { entry.load.addMembers(to: &$0, number: entry.number) }
        }
        return (json.bytes, last)
    }

    private static func second(at now: Instant, since start: Instant) -> Int64 {
        max(0, now.nanoseconds(since: start)) / 1_000_000_000
    }
}
