// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation

/// Three loads with two slots; time, transport, authoriser and the owner's queue advance only when
/// an event says so.
final class ScheduleWorld {
    private let owner = DispatchQueue(label: "owner")
    private let transport = ManualTransport()
    private let authoriser = TestAuthoriser(.hold)
    /// Authorises nothing and records that a reset has ended the loads.
    private let witness = TestAuthoriser(requires: { _ in false })
    private let bed: TestBed
    private let tokens: [CancellationToken]
    private let identifiers: [Int64]
    private var granted = 0
    private var ended = 0
    private var resets: [Task<Void, Never>] = []
    /// The expected outcome of a load: a cancellation or reset before the delegate was told.
    private var expected: [Int: String] = [:]

    init(isAuthorised: Bool, isReset: Bool) {
        let authorisers = (isAuthorised ? [authoriser] : []) + (isReset ? [witness] : [])
        bed = TestBed(authorisers: authorisers, delegateQueue: owner) {
            [transport] configuration in
            configuration.transport = transport
            configuration.limits.perOrigin = 2
            configuration.retry.maximumRetryCount = 1
            configuration.retry.timer = ExponentialTimer(
                initialTime: .zero, maxTime: .zero, jitter: .none)
            configuration.retry.throttledTimer = configuration.retry.timer
        }
        owner.suspend()
        let requests = (0..<3).map { index in
            DataLoaderRequest.make("/\(index)") { $0.timeout = .seconds(index + 1) }
        }
        identifiers = requests.map(\.uniqueIdentifier)
        tokens = requests.map { [loader = bed.loader] in loader.perform($0) }
        flush()
    }

    /// Runs the events and lets everything end; returns what is wrong.
    func play(_ events: [ScheduleEvent]) async -> String? {
        for event in events { await apply(event) }
        await drain()
        transport.letGo()
        return fault
    }

    private func apply(_ event: ScheduleEvent) async {
        switch event.kind {
        case .grant: grant(event.load)
        case .finish: end(event.load, 200)
        case .retry: end(event.load, 503)
        case .redirect: end(event.load, 302)
        case .cancel:
            if !isHeard(event.load) { expected[event.load] = "cancelled" }
            tokens[event.load].cancel()
        case .timeOut:
            let deadline = Duration.seconds(event.load + 1)
            if bed.clock.elapsed < deadline { bed.clock.advance(by: deadline - bed.clock.elapsed) }
        case .deliver: deliver()
        case .cancelAll:
            for load in 0..<3 where !isHeard(load) { expected[load] = "cancelled" }
            bed.loader.cancelAllLoads()
        case .reset:
            for load in 0..<3 where !isHeard(load) && expected[load] == nil {
                expected[load] = "reset"
            }
            resets.append(Task { [factory = bed.factory] in await factory.reset() })
            _ = await witness.calls(resets.count)
        }
        flush()
    }

    private func grant(_ load: Int) {
        let held = authoriser.heldNow
        guard let index = held.lastIndex(where: { $0.request.url.path.hasPrefix("/\(load)") })
        else { return }
        authoriser.grant(index)
    }

    private func end(_ load: Int, _ status: Int) {
        let attempt = transport.attempts.elements.first {
            $0.request.url.path.hasPrefix("/\(load)") && !$0.isEnded.withLock { $0 }
        }
        attempt?.end(status, location: "/\(load)/next")
    }

    private func isHeard(_ load: Int) -> Bool {
        bed.delegate.events.contains { $0.isTerminal && $0.requestIdentifier == identifiers[load] }
    }

    /// Runs what loads have put on the queue that they share.
    private func flush() {
        for _ in 0..<4 { bed.service.drainQueues() }
    }

    private func deliver() {
        owner.resume()
        bed.loader.queue.sync {}
        owner.suspend()
    }

    /// Answers all questions and ends all attempts until there are none.
    private func drain() async {
        for load in 0..<3 { grant(load) }
        for _ in 0..<4 {
            flush()
            for attempt in transport.attempts.elements { attempt.end(200, location: "/") }
            flush()
            for load in 0..<3 { grant(load) }
        }
        owner.resume()
        bed.settle()
        for reset in resets { await reset.value }
        for _ in 0..<2 {
            bed.settle()
            for attempt in transport.attempts.elements { attempt.end(200, location: "/") }
        }
        bed.settle()
    }

    /// The outcomes of the loads.
    var kinds: [String] { bed.delegate.events.map(Self.kind) }

    private static func kind(_ event: RecordingDelegate.Event) -> String {
        if case .cancelled = event { return "cancelled" }
        return event.response?.error?.name ?? "success"
    }

    private var fault: String? {
        let outcomes = bed.delegate.events.filter(\.isTerminal)
        for load in 0..<3 {
            let own = outcomes.filter { $0.requestIdentifier == identifiers[load] }
            guard own.count == 1, let outcome = own.first else { return "\(load) ended \(own)" }
            let kind = Self.kind(outcome)
            if let expected = expected[load], kind != expected {
                return "\(load) ended \(kind), not \(expected)"
            }
            if expected[load] == nil, !["success", "timed_out"].contains(kind) {
                return "\(load) ended \(kind)"
            }
            if tokens[load].isCancelled != (kind == "cancelled") { return "the token of \(load)" }
        }
        if bed.delegate.events.count != 3 { return "\(bed.delegate.events)" }
        if bed.observer.entries.count != 3 { return "\(bed.observer.entries.count) reports" }
        let runtime = bed.service.runtime
        if runtime.admission.load != (0, 0) { return "slots \(runtime.admission.load)" }
        if !runtime.admission.isIdle { return "admission is not idle" }
        if runtime.timerQueue.count != 0 { return "\(runtime.timerQueue.count) appointments" }
        if runtime.liveLoads.live != 0 { return "\(runtime.liveLoads.live) live" }
        if !bed.loader.currentRequests.isEmpty { return "requests are left" }
        if tokens.contains(where: { $0.load != nil }) { return "a token holds its load" }
        return nil
    }
}
