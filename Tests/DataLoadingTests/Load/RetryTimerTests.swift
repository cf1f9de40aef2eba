// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Loads that pause before a retry share one alarm, which is set for the earliest of them.
@Suite struct RetryTimerTests {
    /// Loads without deadlines, so that only their pauses set alarms.
    private static func bed(pauses: [Int]) -> (bed: TestBed, tokens: [CancellationToken]) {
        let bed = TestBed(otherwise: .fail(.connectionReset, sent: .written)) { configuration in
            configuration.timeouts.total = nil
            configuration.limits.perOrigin = 100
        }
        return (bed, pauses.map { perform(bed, pause: $0) })
    }

    @discardableResult
    private static func perform(_ bed: TestBed, pause: Int) -> CancellationToken {
        let token = bed.loader.perform(
            .make("/\(pause)") {
                $0.retryPolicy = .constant(.seconds(pause), maximumRetries: 1)
            })
        bed.settle()
        return token
    }

    private static func retries(_ bed: TestBed, after count: Int) -> [String] {
        bed.starts.dropFirst(count).map { "\($0.path) at \($0.at)" }
    }

    @Test func `each pausing load continues at its own instant, whatever the order`() {
        let (bed, _) = Self.bed(pauses: [30, 10, 20])
        #expect(bed.service.runtime.timerQueue.count == 3)
        var instants: [Duration] = []
        for _ in 0..<3 {
            guard let next = bed.service.runtime.timerQueue.earliest else { break }
            instants.append(next - Instant(nanoseconds: 0))
            bed.advance(next - bed.clock.instant)
        }
        #expect(instants == [.seconds(10), .seconds(20), .seconds(30)])
        #expect(
            Self.retries(bed, after: 3) == [
                "/10 at 10.0 seconds", "/20 at 20.0 seconds", "/30 at 30.0 seconds",
            ])
        #expect(bed.delegate.events.count == 3)
        bed.expectNothingLeft()
    }

    @Test func `a load with a shorter pause than all others moves the one alarm forward`() {
        let (bed, _) = Self.bed(pauses: [30])
        #expect(bed.clock.pendingAlarms == 1)
        for pause in [20, 25, 10] {
            Self.perform(bed, pause: pause)
            #expect(bed.clock.pendingAlarms == 1)
        }
        for instant in [10, 20, 25, 30] {
            #expect(bed.clock.advanceToNextAlarm())
            #expect(bed.clock.elapsed == .seconds(instant))
            bed.settle()
            #expect(Self.retries(bed, after: 4).last == "/\(instant) at \(instant).0 seconds")
        }
        #expect(!bed.clock.advanceToNextAlarm())
    }

    @Test func `no alarm stays set when no load pauses`() {
        let (bed, tokens) = Self.bed(pauses: [10, 20])
        for token in tokens { token.cancel() }
        bed.settle()
        #expect(bed.service.runtime.timerQueue.count == 0)
        // The alarm of a cancelled load fires once and does nothing.
        bed.clock.advanceToNextAlarm()
        #expect(bed.clock.pendingAlarms == 0)
        #expect(bed.starts.count == 2)
        #expect(bed.delegate.events.count == 2)
    }

    @Test func `an alarm whose load was cancelled is set again for the next load`() {
        let (bed, tokens) = Self.bed(pauses: [10, 20])
        tokens[0].cancel()
        bed.advance(.seconds(19))
        #expect(Self.retries(bed, after: 2).isEmpty)
        #expect(bed.clock.pendingAlarms == 1)
        bed.advance(.seconds(1))
        #expect(Self.retries(bed, after: 2) == ["/20 at 20.0 seconds"])
    }

    @Test func `all loads whose pauses end at one instant continue then, in order`() {
        let (bed, _) = Self.bed(pauses: [10, 40])
        bed.advance(.seconds(2))
        for _ in 0..<2 { Self.perform(bed, pause: 8) }
        bed.advance(.milliseconds(7_999))
        #expect(bed.starts.count == 4)
        bed.clock.advance(by: .milliseconds(1))
        bed.settle()
        #expect(
            Self.retries(bed, after: 4) == [
                "/10 at 10.0 seconds", "/8 at 10.0 seconds", "/8 at 10.0 seconds",
            ])
        #expect(bed.clock.pendingAlarms == 1)
        #expect(bed.service.runtime.timerQueue.earliest == Instant(nanoseconds: 40_000_000_000))
    }

    @Test func `a late alarm calls each entry that is due by then once`() {
        let timekeeper = LateTimekeeper()
        defer { timekeeper.forget() }
        let timerQueue = TimerQueue(timekeeper: timekeeper)
        let calls = EventRecorder<Int>()
        let target = Recorder(calls)
        for second in [3, 1, 2, 9] {
            _ = timerQueue.schedule(
                at: Instant(nanoseconds: Int64(second) * 1_000_000_000), for: target, tag: second)
        }
        // As after the machine has slept.
        timekeeper.goOff(at: .seconds(5))
        #expect(calls.elements == [1, 2, 3])
        #expect(timekeeper.armedFor == Instant(nanoseconds: 9_000_000_000))
        timekeeper.goOff(at: .seconds(5))
        #expect(calls.elements == [1, 2, 3])
        timekeeper.goOff(at: .seconds(9))
        #expect(calls.elements == [1, 2, 3, 9])
        #expect(timekeeper.armedFor == nil)
    }
}

/// Records the tags that it was called with.
private final class Recorder: TimerTarget {
    let calls: EventRecorder<Int>

    init(_ calls: EventRecorder<Int>) { self.calls = calls }

    func timerFired(_ tag: Int) { calls.record(tag) }
}

/// A clock with one alarm, which fires when the test says so, however late.
private final class LateTimekeeper: Timekeeper {
    private struct State: Sendable {
        var now = Instant(nanoseconds: 0)
        var armedFor: Instant?
        var handler: (@Sendable () -> Void)?
    }

    private final class OneAlarm: Alarm {
        let state: Locked<State>

        init(_ state: Locked<State>) { self.state = state }

        func set(for instant: Instant) { state.withLock { $0.armedFor = instant } }
        func cancel() { state.withLock { $0.armedFor = nil } }
    }

    private let state = Locked(State())

    var now: Instant { state.withLock { $0.now } }
    var date: Date { Date(timeIntervalSince1970: 0) }
    var armedFor: Instant? { state.withLock { $0.armedFor } }

    func makeAlarm(_ handler: @escaping @Sendable () -> Void) -> any Alarm {
        state.withLock { $0.handler = handler }
        return OneAlarm(state)
    }

    /// Releases the handler of the alarm.
    func forget() { state.withLock { $0.handler = nil } }

    func goOff(at instant: Duration) {
        let handler = state.withLock { state in
            state.now = Instant(nanoseconds: 0) + instant
            state.armedFor = nil
            return state.handler
        }
        handler?()
    }
}
