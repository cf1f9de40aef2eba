// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSockets
import DataLoadingSupport
import Dispatch

/// The part of a client that its thread shares: the machine behind a lock, and who waits for what.
///
/// The thread keeps the core and not the client, so that a client that is released ends.
final class RedisCore: TimerTarget {
    /// Takes what became of a command, exactly once.
    typealias Answer = @Sendable (Result<RESPValue, any Error>) -> Void

    /// Who waits for a command.
    private struct Caller {
        let answer: Answer
        var timer: TimerQueue.Entry?
        let kind: StoreOperations.Kind
        let start: Instant
    }

    /// What is to be told after the lock.
    private struct Delivery {
        let answer: Answer
        let result: Result<RESPValue, RedisError>

        func deliver() { answer(result.mapError { $0 }) }
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

    private static let elsewhere = DispatchQueue(
        label: "DataLoading.leases", attributes: .concurrent)
    let configuration: RedisConfiguration
    let connection = RedisConnection()
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
        _ kind: StoreOperations.Kind, _ bytes: [UInt8], fallback: RedisCommand?
    ) async throws -> RESPValue {
        // This precedes any lock: in a forked child another thread may hold one for ever.
        guard RedisStream.forks == forks else { throw RedisError.notSent(.forked) }
        let command = makeCommand(bytes, fallback)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                submit(command, kind) { continuation.resume(with: $0) }
                // The handler may have run before there was something to cancel.
                if Task.isCancelled { cancel(command.id) }
            }
        } onCancel: {
            cancel(command.id)
        }
    }

    /// Sends a command, and calls `answer` as `runOnThread` calls its work, never within the call.
    func run(
        _ kind: StoreOperations.Kind, _ bytes: [UInt8], fallback: RedisCommand?,
        answer: @escaping Answer
    ) {
        let answer: Answer = { result in self.runOnThread { answer(result) } }
        guard RedisStream.forks == forks else {
            return answer(.failure(RedisError.notSent(.forked)))
        }
        submit(makeCommand(bytes, fallback), kind, answer)
    }

    private func makeCommand(_ bytes: [UInt8], _ fallback: RedisCommand?) -> RedisMachine.Waiting {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return RedisMachine.Waiting(id: id, bytes: bytes, fallback: fallback)
    }

    private func submit(
        _ command: RedisMachine.Waiting, _ kind: StoreOperations.Kind, _ answer: @escaping Answer
    ) {
        let start = timers.now
        change(isCommand: true) { state, now in
            state.callers[command.id] = Caller(answer: answer, kind: kind, start: now)
            if let ending = state.machine.submit(command, now: now) { return [ending] }
            guard state.thread == nil else { return [] }
            state.thread = RedisThread.start(for: self)
            guard state.thread == nil else { return [] }
            return state.machine.expire(command.id, now: now)
                .map { .init(id: $0.id, result: .failure(.notSent(.resources))) }
        }
        // Only now, because the alarm wakes a thread, which would be in the server's way.
        let timer = timers.schedule(
            at: start + configuration.patience, for: self, tag: command.id)
        let isOver = state.withLock { state in
            state.callers[command.id]?.timer = timer
            // One that was cancelled meanwhile keeps it as others do, see `cancel`.
            return state.callers[command.id] == nil && !state.machine.hasSent(command.id)
        }
        if isOver { timers.cancel(timer) }
    }

    private func cancel(_ id: RedisMachine.ID) {
        // The timer stays: a server that does not answer a command that it was sent is gone.
        let caller = state.withLock { state in
            state.machine.cancel(id) ? state.callers.removeValue(forKey: id) : nil
        }
        caller?.answer(.failure(CancellationError()))
    }

    func timerFired(_ tag: Int) {
        change { state, now in state.machine.expire(tag, now: now) }
    }

    /// Ends every command, and then the thread.
    func stop() {
        change { state, _ in state.machine.shutDown() }
    }

    /// Changes the state, wakes the thread, and delivers what has ended; a command is sent here if
    /// that is possible, and the thread then sleeps on.
    private func change(
        isCommand: Bool = false, _ body: (inout State, Instant) -> [RedisMachine.Ending]
    ) {
        let (deliveries, sends) = state.withLock { state in
            let endings = body(&state, timers.now)
            // What the thread of a connection that is ready waits for does not change by a command.
            let sends = isCommand && state.machine.hasOutgoing
            if !sends { state.wake() }
            return (take(endings, from: &state), sends)
        }
        // If the connection is lost, or takes no more, the thread sees to it.
        if sends, !connection.sendHere(takeOutgoing) { state.withLock { $0.wake() } }
        for delivery in deliveries { delivery.deliver() }
    }

    private func take(
        _ endings: [RedisMachine.Ending], from state: inout State
    ) -> [Delivery] {
        endings.compactMap { ending in
            guard let caller = state.callers.removeValue(forKey: ending.id) else { return nil }
            if let timer = caller.timer { timers.cancel(timer) }
            note(ending, of: caller, in: &state)
            return Delivery(answer: caller.answer, result: ending.result)
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

    /// Runs work on the thread while that serves a connection, else on a queue for all clients.
    ///
    /// The thread may be blocked while it connects.
    func runOnThread(_ work: @escaping @Sendable () -> Void) {
        if !isTaken(work) { Self.elsewhere.async(execute: work) }
    }

    private func isTaken(_ work: @escaping @Sendable () -> Void) -> Bool {
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
