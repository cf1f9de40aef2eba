// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingFleet
import DataLoadingSupport
import DataLoadingTesting
import Testing

/// How a lock is kept, by a clock of the test.
@Suite(.timeLimit(.minutes(15))) struct CredentialHoldTests {
    private let clock = ManualClock()
    private let timerQueue: TimerQueue
    private let renewals = HeldFetch<Bool>()
    /// What is done under the lock ends with the first of these.
    private let ends = EventRecorder<Int>()

    init() {
        timerQueue = TimerQueue(timekeeper: clock.timekeeper)
    }

    private func begin(
        _ body: (@Sendable () async throws -> Int)? = nil
    ) -> Task<Int, any Error> {
        let untilEnded: @Sendable () async throws -> Int = { [ends] in
            let end = await ends.first(1)[0]
            try Task.checkCancellation()
            return end
        }
        let work = body ?? untilEnded
        let hold = LockHold(timerQueue: timerQueue, times: LockTimes())
        let taken = timerQueue.now
        return Task { [renewals] in
            try await hold.run(since: taken, renewing: { try await renewals(nil) }, work)
        }
    }

    /// Advances the clock to the next timer, which must be so far away.
    private func advance(by duration: Duration) async {
        await eventually { timerQueue.earliest == timerQueue.now + duration }
        clock.advance(by: duration)
    }

    /// Ends what is done, once the lock is renewed no more.
    private func endWithoutLock(_ task: Task<Int, any Error>) async throws {
        await eventually { timerQueue.count == 0 }
        let count = renewals.count
        clock.advance(by: .seconds(3_600))
        ends.record(7)
        #expect(try await task.value == 7)
        #expect(renewals.count == count)
    }

    @Test func `a lock is renewed every five seconds, and lost with the server's word`()
        async throws
    {
        let task = begin()
        for index in 0..<5 {
            await advance(by: .seconds(5))
            await renewals.call(index).answer(true)
        }
        await advance(by: .seconds(5))
        await renewals.call(5).answer(false)
        try await endWithoutLock(task)
    }

    @Test func `a renewal that fails is tried again each second, and counts once it succeeds`()
        async throws
    {
        let task = begin()
        await advance(by: .seconds(5))
        await renewals.call(0).fail(TestFailure())
        for index in 1..<9 {
            await advance(by: .seconds(1))
            await renewals.call(index).fail(TestFailure())
        }
        // 14 seconds after the last word.
        await advance(by: .seconds(1))
        await renewals.call(9).answer(true)
        await advance(by: .seconds(5))
        await renewals.call(10).answer(false)
        #expect(clock.elapsed == .seconds(19))
        try await endWithoutLock(task)
    }

    @Test func `a lock that nobody confirms is lost after fifteen seconds`() async throws {
        let task = begin()
        await advance(by: .seconds(5))
        for index in 0..<9 {
            await renewals.call(index).fail(TestFailure())
            await advance(by: .seconds(1))
        }
        await renewals.call(9).fail(TestFailure())
        await advance(by: .seconds(1))
        try await endWithoutLock(task)
        #expect(renewals.count == 10)
    }

    @Test func `a server that says nothing is waited for until fifteen seconds are over`()
        async throws
    {
        let task = begin()
        await advance(by: .seconds(5))
        let call = await renewals.call(0)
        await advance(by: .seconds(10))
        try await endWithoutLock(task)
        call.answer(true)
    }

    @Test func `the time counts from when the lock was asked for`() async throws {
        let hold = LockHold(timerQueue: timerQueue, times: LockTimes())
        let taken = timerQueue.now
        clock.advance(by: .seconds(16))
        await #expect(throws: AuthorisationError.store(reason: "the lock was lost")) {
            try await hold.run(since: taken, renewing: { true }) { Issue.record("called") }
        }
    }

    @Test func `what is done ends the renewals, with its value or its error`() async throws {
        #expect(try await begin { 7 }.value == 7)
        await #expect(throws: TestFailure.self) { try await begin { throw TestFailure() }.value }
        #expect(renewals.count == 0)
        #expect(timerQueue.count == 0)
    }

    // It may have sent a refresh token, which the server takes once.
    @Test func `what is done goes on when the lock is lost, and its error is its own`() async throws
    {
        let task = begin { [ends] in
            _ = await ends.first(1)
            try Task.checkCancellation()
            throw TestFailure()
        }
        await advance(by: .seconds(5))
        await renewals.call(0).answer(false)
        await eventually { timerQueue.count == 0 }
        ends.record(0)
        await #expect(throws: TestFailure.self) { try await task.value }
    }

    @Test func `what is done is cancelled with its task, and the error is its own`() async throws {
        let task = begin {
            try await untilCancelled()
            return 0
        }
        await eventually { timerQueue.count == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

/// Waits until the task is cancelled.
func untilCancelled() async throws {
    let waker = Waker()
    await withTaskCancellationHandler {
        await waker.wait()
    } onCancel: {
        waker.wake()
    }
    try Task.checkCancellation()
}
