// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoading

/// Provides an authoriser's credential to loads, with one fetch for all that wait.
///
/// Waiters are resumed in the order of their arrival. No user code runs under a lock.
final class CredentialProvider<Credential: Sendable>: Sendable {
    typealias Record = CredentialRecord<Credential>

    /// Gets a credential from the one before it.
    typealias Source =
        @Sendable (Credential?, _ report: @escaping @Sendable (FetchReport) -> Void) async throws
        -> Fetched<Credential>

    private struct Waiter: Sendable {
        /// The refused credential: the load gets another one if possible.
        let refused: CredentialStamp?
        let continuation: CheckedContinuation<Record.Issued, any Error>

        func resume(with answer: Record.Answer) {
            switch answer {
            case .use(let issued): continuation.resume(returning: issued)
            case .fail(let error): continuation.resume(throwing: error)
            case .wait: break
            }
        }
    }

    private struct State: Sendable {
        var record: Record
        /// Keyed by the order of arrival.
        var waiters: [Int: Waiter] = [:]
        var arrivals = 0
        /// The task of the record's fetch.
        var task: Task<Void, Never>?

        mutating func takeWaiters() -> [Waiter] {
            defer { waiters = [:] }
            return waiters.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    /// Adds a credential to a request.
    let apply: @Sendable (Credential, inout DataLoaderRequest) throws -> Void

    private let state: Locked<State>
    private let rules: CredentialRules
    private let timerQueue: TimerQueue
    private let random: RandomSource
    private let source: Source
    private let resetGate = ResetGate()

    /// Makes a provider, with a credential from the start or without.
    ///
    /// `apply` adds a credential to a request.
    init(
        _ rules: CredentialRules, first: Credential? = nil, timerQueue: TimerQueue,
        random: RandomSource = .system,
        apply: @escaping @Sendable (Credential, inout DataLoaderRequest) throws -> Void,
        source: @escaping Source
    ) {
        state = Locked(State(record: Record(rules, first: first)))
        self.rules = rules
        self.timerQueue = timerQueue
        self.random = random
        self.apply = apply
        self.source = source
    }

    /// The number of waiting loads.
    var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// What an authoriser of this name can say of its credential.
    func state(of authoriser: String) -> CredentialState {
        let now = timerQueue.now
        return state.withLock { state in
            let issued = state.record.issued.flatMap { now < $0.expiry ? $0 : nil }
            return CredentialState(
                authoriser: authoriser, isUsable: issued?.isDoubted == false,
                remaining: issued.flatMap { $0.expiry == .distantFuture ? nil : $0.expiry - now },
                fetches: state.record.fetches, failures: state.record.failures,
                hasFailed: state.record.hasFailed, lastFailure: state.record.lastFailure,
                waiting: state.waiters.count)
        }
    }

    // MARK: Requests

    /// Returns the answer that needs no wait; otherwise `.wait`, without beginning a fetch.
    func current(refused: CredentialStamp?) -> Record.Answer {
        let now = timerQueue.now
        return state.withLock { state in
            var record = state.record
            let (answer, begun) = record.ask(now: now, refused: refused)
            if case .wait = answer { return answer }
            state.record = record
            begin(begun, in: &state)
            return answer
        }
    }

    /// Returns a credential once there is one, if possible another one than the refused one.
    ///
    /// Throws the error of the fetch, or `CancellationError`.
    func credential(refused: CredentialStamp? = nil) async throws -> Record.Issued {
        let arrival = state.withLock { state in
            state.arrivals += 1
            return state.arrivals
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let waiter = Waiter(refused: refused, continuation: continuation)
                waiter.resume(with: ask(waiter, arrival))
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: arrival) }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Answers a waiter, or keeps it.
    private func ask(_ waiter: Waiter, _ arrival: Int) -> Record.Answer {
        let now = timerQueue.now
        return state.withLock { state in
            // `onCancel` has not found the waiter.
            if Task.isCancelled { return .fail(CancellationError()) }
            let (answer, begun) = state.record.ask(now: now, refused: waiter.refused)
            begin(begun, in: &state)
            guard case .wait = answer else { return answer }
            guard state.waiters.count < rules.maxWaiters else {
                return .fail(OwnFault(.overloaded))
            }
            state.waiters[arrival] = waiter
            return .wait
        }
    }

    /// Records a refusal; returns whether another credential exists or may be fetched at once.
    func refused(_ stamp: CredentialStamp) -> Bool {
        let now = timerQueue.now
        return random.withGenerator { random in
            state.withLock { $0.record.refused(stamp, now: now, using: &random) }
        }
    }

    // MARK: Resets

    /// Fails the waiters, clears the record, and calls `logOut` with the last credential.
    func reset(_ logOut: @Sendable (Credential?) async -> Void = { _ in }) async {
        await resetGate.perform {
            let (waiters, task, last) = state.withLock { state in
                let last = state.record.beginReset()
                return (state.takeWaiters(), state.task.take(), last)
            }
            task?.cancel()
            for waiter in waiters { waiter.resume(with: .fail(AuthorisationError.reset)) }
            await logOut(last)
            state.withLock { $0.record.endReset() }
        }
    }

    // MARK: Fetches

    /// Begins a fetch under the lock that decides it, so that a later reset finds and cancels it.
    private func begin(_ fetch: Record.Fetch?, in state: inout State) {
        guard let fetch else { return }
        // The time limit counts from here: a task may have to wait for a thread.
        let end = timerQueue.now + rules.timeout
        state.task = Task { await run(fetch, until: end) }
    }

    private func run(_ fetch: Record.Fetch, until end: Instant) async {
        // A reset came before the task ran.
        guard !Task.isCancelled else { return }
        let timer = Task {
            try await timerQueue.sleep(for: end - timerQueue.now)
            timedOut(fetch.number)
        }
        await withTaskCancellationHandler {
            await perform(fetch)
        } onCancel: {
            timer.cancel()
        }
        timer.cancel()
    }

    private func perform(_ fetch: Record.Fetch) async {
        do {
            let report = { @Sendable [weak self] in self?.handle($0, fetch.number) ?? () }
            let fetched = try await AuthorisersWork.perform {
                try await source(fetch.seed, report)
            }
            // It may have expired before it arrived: then loads wait for another one.
            change { _ = $0.arrived(fetched, by: fetch, now: $1, using: &$2) }
        } catch {
            failed(error, fetch.number)
        }
    }

    /// Ends the wait for a fetch; a credential that it brings later is still used.
    private func timedOut(_ number: Int) {
        guard rules.cancelsAfterTimeout else { return handle(.takesLong, number) }
        let task = state.withLock { $0.record.fetch?.number == number ? $0.task.take() : nil }
        guard let task else { return }
        failed(AuthorisationError.timedOut, number)
        task.cancel()
    }

    private func handle(_ report: FetchReport, _ number: Int) {
        change { record, now, _ in
            switch report {
            case .takesLong: _ = record.takesLong(number, now: now)
            case .endsDoubted: record.endsDoubted(number)
            case .endsSeed: record.endsSeed(number)
            }
        }
    }

    /// Changes the record, and resumes the waiters that it then has an answer for.
    private func change(
        _ body: (inout Record, Instant, inout any RandomNumberGenerator & Sendable) -> Void
    ) {
        let now = timerQueue.now
        let answered = random.withGenerator { random in
            state.withLock { state in
                body(&state.record, now, &random)
                return takeAnswered(from: &state, now: now)
            }
        }
        for (waiter, answer) in answered { waiter.resume(with: answer) }
    }

    /// Removes the waiters that the record has an answer for.
    private func takeAnswered(from state: inout State, now: Instant) -> [(Waiter, Record.Answer)] {
        var answered: [(Waiter, Record.Answer)] = []
        for (arrival, waiter) in state.waiters.sorted(by: { $0.key < $1.key }) {
            let (answer, begun) = state.record.ask(now: now, refused: waiter.refused)
            begin(begun, in: &state)
            if case .wait = answer { continue }
            state.waiters[arrival] = nil
            answered.append((waiter, answer))
        }
        return answered
    }

    /// Records a failed fetch; its waiters use the present credential, or fail.
    private func failed(_ error: any Error, _ number: Int) {
        let now = timerQueue.now
        let answered = random.withGenerator { random in
            state.withLock { state in
                let answer = state.record.failed(error, number, now: now, using: &random)
                return answer.map { (state.takeWaiters(), $0) }
            }
        }
        guard let (waiters, answer) = answered else { return }
        for waiter in waiters { waiter.resume(with: answer) }
    }
}
