// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Dispatch

/// Limits how many attempts another transport runs at once, with a limit that may be changed.
///
/// ```swift
/// let throttle = ThrottledTransport(transport, maximumInFlight: 4)
/// throttle.maximumInFlight = 0
/// ```
/// Further attempts wait and start in the order in which they came. They hold the connection slots
/// of their loads, so that no more of them wait than `Limits.total` and `Limits.streams` allow. The
/// deadlines of their loads keep running; the limits for connecting and silence begin when the
/// attempt starts. An attempt that is cancelled while it waits ends at once, and is not sent.
/// Attempts for the cache only (`.cacheOnly`) do not wait.
///
/// `reset` and `shutDown` are passed on, each call once. `shutDown` ends the waiting attempts with
/// `.serviceInvalidated`. Any thread may call any method.
public final class ThrottledTransport: Transport {
    private struct State: Sendable {
        var maximum: Int
        var inFlight = 0
        var isShutDown = false
        /// Whether a thread starts waiting attempts: only one does, so that they start in order.
        var isStarting = false
        var waiting = IndexedHeap<ThrottledAttempt>()
        var handles: [ObjectIdentifier: IndexedHeap<ThrottledAttempt>.Handle] = [:]

        /// Entries of equal instants leave the heap in the order in which they came.
        private static let instant = Instant(nanoseconds: 0)

        /// The error with which every attempt ends; nil while they are passed on.
        var refusal: DataLoaderError? {
            if isShutDown { return .serviceInvalidated }
            return maximum < 0
                ? .malformed("ThrottledTransport.maximumInFlight", "is below zero") : nil
        }

        mutating func append(_ attempt: ThrottledAttempt) {
            handles[ObjectIdentifier(attempt)] = waiting.insert(attempt, at: Self.instant)
        }

        mutating func remove(_ attempt: ThrottledAttempt) {
            guard let handle = handles.removeValue(forKey: ObjectIdentifier(attempt)) else {
                return
            }
            _ = waiting.remove(handle)
        }

        mutating func popFirst() -> ThrottledAttempt? {
            guard let first = waiting.popFirst(notAfter: Self.instant) else { return nil }
            handles[ObjectIdentifier(first)] = nil
            return first
        }

        /// Takes all that wait if every attempt is refused now.
        mutating func takeRefused() -> (DataLoaderError, [ThrottledAttempt])? {
            guard let refusal else { return nil }
            var all: [ThrottledAttempt] = []
            while let attempt = popFirst() { all.append(attempt) }
            return (refusal, all)
        }

        /// Takes the next attempt and its place; nil when it must wait, or there is none.
        mutating func next() -> ThrottledAttempt? {
            guard inFlight < maximum, let attempt = popFirst() else {
                isStarting = false
                return nil
            }
            inFlight += 1
            return attempt
        }
    }

    private let next: any Transport
    private let state: Locked<State>
    /// Delivers the ends of attempts that never started; a global queue may be busy.
    let ends = DispatchQueue(label: "DataLoading.throttle")

    /// Makes a transport that passes at most `maximumInFlight` attempts to `next` at once.
    ///
    /// At zero no attempt starts. Below zero every attempt fails `.invalidConfiguration`.
    public init(_ next: any Transport, maximumInFlight: Int) {
        self.next = next
        state = Locked(State(maximum: maximumInFlight))
    }

    /// The maximum number of attempts at once; zero pauses.
    ///
    /// A higher maximum starts waiting attempts at once. A lower one ends no attempt: none starts
    /// until fewer than that run.
    public var maximumInFlight: Int {
        get { state.withLock { $0.maximum } }
        set {
            state.withLock { $0.maximum = newValue }
            startWaiting()
        }
    }

    /// The numbers of attempts that run and that wait.
    package var load: (inFlight: Int, waiting: Int) {
        state.withLock { ($0.inFlight, $0.waiting.count) }
    }

    /// Starts an attempt, or lets it wait.
    public func start(
        _ attempt: TransportRequest, sink: any TransportSink
    ) -> any TransportTask {
        guard attempt.cachePolicy != .cacheOnly else { return next.start(attempt, sink: sink) }
        let throttled = ThrottledAttempt(attempt, sink: sink, of: self)
        state.withLock { $0.append(throttled) }
        startWaiting()
        throttled.noteWait()
        return throttled
    }

    /// Resets the next transport; waiting attempts keep waiting.
    public func reset() async { await next.reset() }

    /// Ends the waiting attempts, and shuts the next transport down.
    public func shutDown() async {
        state.withLock { $0.isShutDown = true }
        startWaiting()
        await next.shutDown()
    }

    /// The transport whose attempts are limited.
    public var wrapped: (any Transport)? { next }

    /// Starts the attempts for which there is room, or ends them where all are refused.
    private func startWaiting() {
        if let (error, refused) = state.withLock({ $0.takeRefused() }) {
            for attempt in refused { attempt.endEarly(error) }
            return
        }
        let isFirst = state.withLock { state in
            defer { state.isStarting = true }
            return !state.isStarting
        }
        guard isFirst else { return }
        while let attempt = state.withLock({ $0.next() }) {
            // It was cancelled between the two.
            if !attempt.start(on: next) { state.withLock { $0.inFlight -= 1 } }
        }
    }

    /// Removes an attempt that was cancelled while it waited.
    func remove(_ attempt: ThrottledAttempt) {
        state.withLock { $0.remove(attempt) }
    }

    /// Gives the place of an ended attempt to the next one.
    func attemptEnded() {
        state.withLock { $0.inFlight -= 1 }
        startWaiting()
    }
}
