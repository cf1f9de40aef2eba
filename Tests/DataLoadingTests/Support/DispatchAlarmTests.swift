// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// The system's time with real alarms and simulated sleeps of the machine.
private struct SleepyTimekeeper: Timekeeper {
    private let slept = Locked(Duration.zero)

    var now: Instant { SystemTimekeeper().now + slept.withLock { $0 } }
    var date: Date { Date() }

    func sleep(for duration: Duration) { slept.withLock { $0 += duration } }

    func makeAlarm(_ handler: @escaping @Sendable () -> Void) -> any Alarm {
        DispatchAlarm(now: { now }, handler: handler)
    }
}

@Suite struct DispatchAlarmTests {
    @Test func `an alarm fires within a second after the machine slept past its instant`()
        async
    {
        let limit = Duration.seconds(5) * patience
        let time = await fastest(within: limit) {
            let timekeeper = SleepyTimekeeper()
            // Recorded in the handler: a busy test run may resume this task much later.
            let rang = EventRecorder<ContinuousClock.Instant>()
            let alarm = timekeeper.makeAlarm { rang.record(.now) }
            alarm.set(for: timekeeper.now + .seconds(60))
            timekeeper.sleep(for: .seconds(3_600))
            let begun = ContinuousClock.now
            let time = await rang.first(1)[0] - begun
            alarm.cancel()
            return time
        }
        #expect(time < limit)
    }

    @Test func `an alarm fires at its instant, or earlier if that is more than a second away`()
        async
    {
        let timekeeper = SleepyTimekeeper()
        let rang = EventRecorder<Instant>()
        let alarm = timekeeper.makeAlarm { rang.record(timekeeper.now) }
        for milliseconds in [0, 1, 20, 999, 60_000] {
            let begun = timekeeper.now
            let count = rang.elements.count
            alarm.set(for: begun + .milliseconds(milliseconds))
            let part = begun + .milliseconds(min(milliseconds, 1_000))
            #expect(await rang.first(count + 1).last.map { $0 >= part } == true)
        }
        alarm.cancel()
        #expect(rang.elements.count == 5)
    }

    @Test func `nobody is woken for an entry that was cancelled, but once`() async {
        let timekeeper = SleepyTimekeeper()
        let target = Target()
        // For an hour the first look is after a minute.
        let patient = TimerQueue(timekeeper: timekeeper)
        patient.cancel(patient.schedule(at: timekeeper.now + .seconds(3_600), for: target, tag: 1))
        #expect(patient.isArmed)
        let queue = TimerQueue(timekeeper: timekeeper)
        queue.cancel(queue.schedule(at: timekeeper.now + .seconds(60), for: target, tag: 1))
        await eventually { !queue.isArmed }
        #expect(queue.earliest == nil)
        // One that still waits is waited for.
        _ = queue.schedule(at: timekeeper.now + .milliseconds(1_500), for: target, tag: 2)
        #expect(await target.fired.first(1) == [2])
        #expect(!queue.isArmed)
    }

    private final class Target: TimerTarget {
        let fired = EventRecorder<Int>()

        func timerFired(_ tag: Int) { fired.record(tag) }
    }

    @Test func `a load's deadline is kept although the machine slept through it`() async {
        let limit = Duration.seconds(5) * patience
        let time = await fastest(within: limit) {
            let timekeeper = SleepyTimekeeper()
            var configuration = DataLoaderService.Configuration()
            configuration.transport = ScriptedTransport()
            let service = DataLoaderService(
                configuration: configuration, timekeeper: timekeeper, random: .system)
            let ended = EventRecorder<ContinuousClock.Instant>()
            let delegate = RecordingDelegate(onEvent: { _ in ended.record(.now) })
            let loader = service.makeFactory().makeDataLoader(delegate: delegate)
            var request = DataLoaderRequest(url: testURL("http://origin.test/"))
            request.timeout = .seconds(50)
            loader.perform(request)
            timekeeper.sleep(for: .seconds(3_600))
            let begun = ContinuousClock.now
            let outcome = await delegate.outcomes(1)[0]
            let time = await ended.first(1)[0] - begun
            #expect(outcome.response?.error?.name == "timed_out")
            await service.shutDown(gracePeriod: .zero)
            return time
        }
        #expect(time < limit)
    }
}
