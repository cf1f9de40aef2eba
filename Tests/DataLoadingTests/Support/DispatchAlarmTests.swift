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

    @Test func `an alarm never fires before its instant, nor twice`() async {
        let timekeeper = SleepyTimekeeper()
        let rang = EventRecorder<Instant>()
        let alarm = timekeeper.makeAlarm { rang.record(timekeeper.now) }
        for milliseconds in [0, 1, 20, 1_100] {
            let instant = timekeeper.now + .milliseconds(milliseconds)
            let count = rang.elements.count
            alarm.set(for: instant)
            #expect(await rang.first(count + 1).last.map { $0 >= instant } == true)
        }
        alarm.cancel()
        #expect(rang.elements.count == 4)
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
