// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSockets
import DataLoadingSupport

/// The part of a client that its thread shares: the machine behind a lock, and who waits for what.
///
/// The thread keeps the core and not the client, so that a client that is released ends.
final class RedisCore: TimerTarget {
    /// The task that waits for a command.
    private struct Caller {
        let continuation: CheckedContinuation<RESPValue, any Error>
        let timer: TimerQueue.Entry
        let kind: StoreOperations.Kind
        let start: Instant
    }

    /// What is to be resumed after the lock.
    private struct Delivery {
        let continuation: CheckedContinuation<RESPValue, any Error>
        let result: Result<RESPValue, RedisError>

        func deliver() {
            continuation.resume(with: result.mapError { $0 as any Error })
        }
    }

    private struct State {
        var machine: RedisMachine
        var callers: [RedisMachine.ID: Caller] = [:]
        var lastID = 0
        var thread: RedisThread?
        /// The thread was woken or is awake, and has not asked what there is to do.
        var isWoken = false
        /// What else the thread runs, while it serves a connection.
        var work: [@Sendable () -> Void] = []
        var waiters: [CheckedContinuation<Void, Never>] = []
        var operations = StoreOperations()

        mutating func wake() {
            guard !isWoken, let thread else { return }
            isWoken = true
            thread.wake()
        }
    }

    let configuration: RedisConfiguration
    /// Ends commands: the thread cannot, while it connects or reads a password.
    private let timers: TimerQueue
    private let state: Locked<State>
    private let forks = RedisStream.forks

    init(
        _ configuration: RedisConfiguration, randomness: RandomSource, timekeeper: any Timekeeper
    ) {
        self.configuration = configuration
        timers = TimerQueue(timekeeper: timekeeper)
        let machine = RedisMachine(
            endpointCount: configuration.endpoints.count, maxWaiting: configuration.maxWaiting,
            patience: configuration.patience, randomness: randomness)
        state = Locked(State(machine: machine))
    }

    /// The monotonic time.
    var now: Instant { timers.now }

    var status: RedisStatus {
        let endpoints = configuration.endpoints
        return state.withLock { state in
            let machine = state.machine
            let connection: RedisStatus.Connection =
                switch machine.state {
                case .idle, .shutDown: .none
                case .connecting, .greeting, .pausing: .connecting
                case .ready: .ready
                }
            return RedisStatus(
                connection: connection, connections: machine.connections,
                endpoint: endpoints.indices.contains(machine.endpoint)
                    ? endpoints[machine.endpoint] : nil,
                lastFailure: machine.lastFailure, lastAnswer: machine.lastAnswer)
        }
    }

    /// How long the commands took that have ended.
    var operations: StoreOperations { state.withLock { $0.operations } }

    /// Sends a command, and returns its answer.
    func run(
        _ kind: StoreOperations.Kind, _ bytes: [UInt8], fallback: [UInt8]?
    ) async throws -> RESPValue {
        // This precedes any lock: in a forked child another thread may hold one for ever.
        guard RedisStream.forks == forks else { throw RedisError.notSent(.forked) }
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let command = RedisMachine.Waiting(id: id, bytes: bytes, fallback: fallback)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                submit(command, kind, continuation)
                // The handler may have run before there was something to cancel.
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func submit(
        _ command: RedisMachine.Waiting, _ kind: StoreOperations.Kind,
        _ continuation: CheckedContinuation<RESPValue, any Error>
    ) {
        change { state, now in
            let timer = timers.schedule(
                at: now + configuration.patience, for: self, tag: command.id)
            state.callers[command.id] = Caller(
                continuation: continuation, timer: timer, kind: kind, start: now)
            if let ending = state.machine.submit(command, now: now) { return [ending] }
            guard state.thread == nil else { return [] }
            state.thread = RedisThread.start(for: self)
            guard state.thread == nil else { return [] }
            return state.machine.expire(command.id, now: now)
                .map { .init(id: $0.id, result: .failure(.notSent(.resources))) }
        }
    }

    private func cancel(_ id: RedisMachine.ID) {
        // The timer stays: a server that does not answer a command that it was sent is gone.
        let caller = state.withLock { state in
            state.machine.cancel(id) ? state.callers.removeValue(forKey: id) : nil
        }
        caller?.continuation.resume(throwing: CancellationError())
    }

    func timerFired(_ tag: Int) {
        change { state, now in state.machine.expire(tag, now: now) }
    }

    /// Ends every command, and then the thread.
    func stop() {
        change { state, _ in state.machine.shutDown() }
    }

    /// Changes the state, wakes the thread, and delivers what has ended.
    private func change(_ body: (inout State, Instant) -> [RedisMachine.Ending]) {
        let deliveries = state.withLock { state in
            let endings = body(&state, timers.now)
            state.wake()
            return take(endings, from: &state)
        }
        for delivery in deliveries { delivery.deliver() }
    }

    private func take(
        _ endings: [RedisMachine.Ending], from state: inout State
    ) -> [Delivery] {
        endings.compactMap { ending in
            guard let caller = state.callers.removeValue(forKey: ending.id) else { return nil }
            timers.cancel(caller.timer)
            note(ending, of: caller, in: &state)
            return Delivery(continuation: caller.continuation, result: ending.result)
        }
    }
}

extension RedisCore {
    private func note(
        _ ending: RedisMachine.Ending, of caller: Caller, in state: inout State
    ) {
        let endpoints = configuration.endpoints
        var kind = caller.kind
        if let index = ending.endpoint, endpoints.indices.contains(index) {
            kind.server = endpoints[index].server
        }
        if case .failure(let error) = ending.result { kind.error = error.name }
        state.operations.note(kind, took: timers.now - caller.start)
    }
}

// What the thread calls.
extension RedisCore {
    /// Returns what the thread has to do.
    ///
    /// The work that is left comes first: in what follows the thread may be blocked.
    func takeJob() -> RedisMachine.Job {
        while true {
            let (job, work, deliveries) = state.withLock { state in
                guard state.work.isEmpty else {
                    defer { state.work = [] }
                    state.isWoken = true
                    return (nil as RedisMachine.Job?, state.work, [Delivery]())
                }
                state.isWoken = false
                let (job, endings) = state.machine.job(now: timers.now)
                return (job, [], take(endings, from: &state))
            }
            for delivery in deliveries { delivery.deliver() }
            if let job { return job }
            for piece in work { piece() }
        }
    }

    /// Runs work on the thread; returns false and does nothing unless that serves a connection.
    func runOnThread(_ work: @escaping @Sendable () -> Void) -> Bool {
        guard RedisStream.forks == forks else { return false }
        return state.withLock { state in
            guard state.machine.state == .ready, state.thread != nil else { return false }
            state.work.append(work)
            state.wake()
            return true
        }
    }

    /// Changes the machine on the thread, which needs not be woken; returns whether it is to keep
    /// its connection.
    @discardableResult func onThread(
        _ body: (inout RedisMachine, Instant) -> [RedisMachine.Ending]
    ) -> Bool {
        let (isServing, deliveries) = state.withLock { state in
            // It asks what there is to do before it waits.
            state.isWoken = true
            let endings = body(&state.machine, timers.now)
            return (state.machine.isServing, take(endings, from: &state))
        }
        for delivery in deliveries { delivery.deliver() }
        return isServing
    }

    /// Takes the bytes to send.
    func takeOutgoing() -> [UInt8] {
        state.withLock { $0.machine.takeOutgoing() }
    }

    /// The thread has ended and was joined.
    func threadEnded() {
        let (thread, waiters) = state.withLock { state in
            let waiters = state.waiters
            state.waiters = []
            return (state.thread.take(), waiters)
        }
        for waiter in waiters { waiter.resume() }
        _ = thread
    }

    /// Returns when the thread has ended.
    func waitUntilOver() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isOver = state.withLock { state in
                guard state.thread != nil else { return true }
                state.waiters.append(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }
}
