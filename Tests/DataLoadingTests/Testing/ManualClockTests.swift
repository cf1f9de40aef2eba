// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

@Suite struct ManualClockTests {
    private let clock = ManualClock()
    private let log = Locked<[String]>([])

    private func note(_ text: String) {
        log.withLock { $0.append("\(text)@\(clock.elapsed.wholeNanoseconds / 1_000_000)") }
    }

    private var notes: [String] { log.withLock { $0 } }

    private func alarm(_ name: String, at milliseconds: Int64) -> any Alarm {
        let alarm = clock.timekeeper.makeAlarm { [self] in note(name) }
        alarm.set(for: Instant(nanoseconds: milliseconds * 1_000_000))
        return alarm
    }

    @Test func `a manual clock moves only when it is told to, and never back`() {
        #expect(clock.elapsed == .zero)
        clock.advance(by: .milliseconds(1_500))
        clock.advance(by: .seconds(-9))
        #expect(clock.elapsed == .milliseconds(1_500))
        #expect(clock.timekeeper.now == Instant(nanoseconds: 1_500_000_000))
        clock.advance(by: .seconds(Int64.max))
        #expect(clock.timekeeper.now == .distantFuture)
    }

    @Test func `a manual clock fires due alarms in order of time, then of setting`() {
        let alarms = [
            alarm("late", at: 30), alarm("first", at: 10), alarm("second", at: 10),
            alarm("never", at: 31),
        ]
        clock.advance(by: .milliseconds(30))
        #expect(notes == ["first@10", "second@10", "late@30"])
        #expect(clock.pendingAlarms == 1)
        withExtendedLifetime(alarms) {}
    }

    @Test func `a manual clock fires an alarm that is set and due during an advance`() {
        let timekeeper = clock.timekeeper
        let holder = Locked<(any Alarm)?>(nil)
        let alarm = timekeeper.makeAlarm { [self] in
            note("tick")
            holder.withLock { $0 }?.set(for: timekeeper.now + .milliseconds(10))
        }
        holder.withLock { $0 = alarm }
        alarm.set(for: Instant(nanoseconds: 5_000_000))
        clock.advance(by: .milliseconds(26))
        #expect(notes == ["tick@5", "tick@15", "tick@25"])
        #expect(clock.elapsed == .milliseconds(26))
        alarm.cancel()
        holder.withLock { $0 = nil }
        #expect(clock.pendingAlarms == 0)
    }

    @Test func `a manual clock fires overdue alarms at the next advance, even by zero`() {
        clock.advance(by: .seconds(1))
        let overdue = alarm("overdue", at: 5)
        #expect(notes.isEmpty)
        clock.advance(by: .zero)
        #expect(notes == ["overdue@1000"])
        withExtendedLifetime(overdue) {}
    }

    @Test func `an alarm has one instant, and none after it is cancelled or dropped`() {
        let moved = alarm("moved", at: 10)
        moved.set(for: Instant(nanoseconds: 20_000_000))
        let cancelled = alarm("cancelled", at: 10)
        cancelled.cancel()
        cancelled.set(for: Instant(nanoseconds: 10_000_000))
        _ = alarm("dropped", at: 10)
        #expect(clock.pendingAlarms == 1)
        clock.advance(by: .milliseconds(50))
        #expect(notes == ["moved@20"])
    }

    @Test func `a manual clock advances to the next alarm if there is one`() {
        #expect(!clock.advanceToNextAlarm())
        let alarms = [alarm("b", at: 70), alarm("a", at: 40)]
        #expect(clock.advanceToNextAlarm())
        #expect(clock.elapsed == .milliseconds(40))
        #expect(clock.advanceToNextAlarm())
        #expect(notes == ["a@40", "b@70"])
        withExtendedLifetime(alarms) {}
    }

    @Test func `the wall time of a manual clock moves along and can be set`() {
        let start = clock.date
        clock.advance(by: .seconds(60))
        #expect(clock.date == start.addingTimeInterval(60))
        clock.setDate(Date(timeIntervalSince1970: 0))
        clock.advance(by: .seconds(2))
        #expect(clock.timekeeper.date == Date(timeIntervalSince1970: 2))
        #expect(clock.elapsed == .seconds(62))
    }

    @Test func `a manual clock wakes sleepers at their instant`() async throws {
        async let short: Void = clock.sleep(for: .seconds(1))
        async let long: Void = clock.sleep(for: .seconds(3))
        await clock.waitForAlarms(2)
        clock.advance(by: .seconds(1))
        try await short
        #expect(clock.pendingAlarms == 1)
        clock.advance(by: .seconds(2))
        try await long
        try await clock.sleep(for: .zero)
    }

    @Test func `a cancelled sleep ends without moving the manual clock`() async {
        let sleeper = Task { [clock] in try await clock.sleep(for: .seconds(1)) }
        await clock.waitForAlarms(1)
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(clock.pendingAlarms == 0)
    }

    @Test func `a cancelled sleep leaves nothing behind, whenever it is cancelled`() async {
        for _ in 0..<500 {
            let sleeper = Task { [clock] in try? await clock.sleep(for: .seconds(1)) }
            sleeper.cancel()
            await sleeper.value
        }
        #expect(clock.pendingAlarms == 0)
        #expect(clock.elapsed == .zero)
    }

    @Test func `a cancelled wait for alarms ends`() async {
        let waiter = Task { [clock] in await clock.waitForAlarms(1) }
        waiter.cancel()
        await waiter.value
    }

    @Test func `a service that waits for nothing has no alarm`() async throws {
        var configuration = DataLoaderService.Configuration()
        configuration.transport = ScriptedTransport(
            [.respond(status: 302, headers: ["Location": "/b"])], otherwise: .respond(status: 200))
        let service = DataLoaderService(configuration: configuration, clock: clock)
        let loader = service.makeFactory().makeDataLoader()
        for _ in 0..<3 {
            _ = try await loader.response(for: .make())
            #expect(clock.pendingAlarms == 0)
        }
        // The next alarm is that of the earliest thing that is left.
        let queue = TimerQueue(timekeeper: clock.timekeeper)
        let target = TimerNoise()
        let early = queue.schedule(at: clock.instant + .seconds(1), for: target, tag: 0)
        let late = queue.schedule(at: clock.instant + .seconds(5), for: target, tag: 0)
        queue.cancel(early)
        #expect(clock.pendingAlarms == 1)
        #expect(clock.advanceToNextAlarm())
        #expect(clock.elapsed == .seconds(5))
        #expect(target.calls == 1)
        queue.cancel(late)
        #expect(clock.pendingAlarms == 0)
    }

    @Test(arguments: [false, true])
    func `an alarm counts when the answer that set it has been delivered`(isWrapped: Bool)
        async throws
    {
        let sent = EventRecorder<Void>()
        let gate = DispatchSemaphore(value: 0)
        let hasEnded = Locked(false)
        var configuration = DataLoaderService.Configuration()
        let scripted = ScriptedTransport([
            .run { attempt in
                attempt.sendHead(status: 503)
                sent.record(())
                gate.wait()
                attempt.end()
                hasEnded.withLock { $0 = true }
            }, .respond(status: 200),
        ])
        configuration.transport = isWrapped ? Wrapper(base: scripted) : scripted
        let service = DataLoaderService(configuration: configuration, clock: clock)
        let loader = service.makeFactory().makeDataLoader()
        async let response = loader.response(
            for: .make { $0.retryPolicy = .constant(.seconds(5), maximumRetries: 1) })
        _ = await sent.first(1)
        // The service's alarm is set for the limit of a body that nobody wants.
        let waiter = Task { [clock] in
            await clock.waitForAlarms(1, within: .seconds(5))
            return hasEnded.withLock { $0 }
        }
        for _ in 0..<100 { await Task.yield() }
        gate.signal()
        #expect(await waiter.value)
        clock.advance(by: .seconds(5))
        #expect(try await response.statusCode == .ok)
    }
}

/// A transport around another one.
private struct Wrapper: Transport {
    let base: any Transport

    var wrapped: (any Transport)? { base }

    func start(_ request: TransportRequest, sink: any TransportSink) -> any TransportTask {
        base.start(request, sink: sink)
    }

    func reset() async { await base.reset() }

    func shutDown() async { await base.shutDown() }
}

/// Counts the calls of a timer queue.
private final class TimerNoise: TimerTarget {
    private let counter = Locked(0)

    var calls: Int { counter.withLock { $0 } }

    func timerFired(_ tag: Int) { counter.withLock { $0 += 1 } }
}
