// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingOperations
import DataLoadingSupport
import DataLoadingTesting
import Foundation
import Testing

#if os(Linux)
    @Suite(.timeLimit(.minutes(30))) struct WatchdogTests {
        /// A watchdog with an interval of 20 s, whose first echo the test can hold.
        private final class Scene: Sendable {
            let directory = TemporaryDirectory()
            let clock = ManualClock()
            let timerQueue: TimerQueue
            let listener: NotifyListener
            let manager: ServiceManager
            let watchdog: Watchdog
            let echoes = EventRecorder<Void>()
            /// What the next echoes wait for; nil when they answer at once.
            let held = Locked<Waker?>(nil)

            init() throws {
                listener = try #require(NotifyListener(directory.url("notify").path))
                manager = ServiceManager(environment: listener.environment)
                timerQueue = TimerQueue(timekeeper: clock.timekeeper)
                let (held, echoes) = (held, echoes)
                let environment = ["WATCHDOG_USEC": "20000000", "WATCHDOG_PID": "7"]
                watchdog = try #require(
                    Watchdog(
                        environment: environment, process: 7, manager: manager,
                        timerQueue: timerQueue,
                        echoes: [
                            {},
                            {
                                echoes.record(())
                                await held.withLock { $0 }?.wait()
                            },
                        ]))
            }

            /// Returns when the watchdog waits for an instant.
            func waits(until time: Duration) async {
                await eventually { timerQueue.earliest == Instant(nanoseconds: 0) + time }
            }

            /// Starts the watchdog, and returns what the first echo waits for when it has been asked for.
            func startWithHeldEcho() async -> Waker {
                let waker = Waker()
                held.withLock { $0 = waker }
                watchdog.start()
                await waits(until: .seconds(5))
                _ = await echoes.first(1)
                return waker
            }

            func advance(to time: Duration) { clock.advance(by: time - clock.elapsed) }
        }

        @Test func `the watchdog reports at half of the interval while every part answers`()
            async throws
        {
            let scene = try Scene()
            scene.watchdog.start()
            scene.watchdog.start()
            for round in 1...20 {
                await scene.waits(until: .seconds(10 * round))
                #expect(scene.listener.rest() == ["WATCHDOG=1"])
                scene.advance(to: .seconds(10 * round))
            }
            #expect(await scene.echoes.first(20).count >= 20)
        }

        @Test func `slow echoes within a quarter of the interval do not move the next report`()
            async throws
        {
            let scene = try Scene()
            let waker = await scene.startWithHeldEcho()
            scene.advance(to: .milliseconds(4_999))
            #expect(scene.listener.rest() == [])
            waker.wake()
            await scene.waits(until: .seconds(10))
            #expect(scene.listener.rest() == ["WATCHDOG=1"])
        }

        @Test func `echoes that come late are reported when they come`() async throws {
            let scene = try Scene()
            let waker = await scene.startWithHeldEcho()
            scene.advance(to: .seconds(5))
            await scene.waits(until: .seconds(10))
            #expect(scene.listener.rest() == [])
            waker.wake()
            #expect(await scene.listener.first(1) == ["WATCHDOG=1"])
            #expect(scene.clock.elapsed == .seconds(5))
        }

        // Systemd has stopped its watchdog then, and would start it anew.
        @Test func `echoes that come when the service is ending are not reported`() async throws {
            let scene = try Scene()
            let waker = await scene.startWithHeldEcho()
            scene.advance(to: .seconds(5))
            await scene.waits(until: .seconds(10))
            scene.manager.stopping()
            scene.held.withLock { $0 = nil }
            let count = scene.echoes.elements.count
            waker.wake()
            await eventually {
                scene.clock.advanceToNextAlarm()
                return scene.echoes.elements.count > count + 1
            }
            #expect(scene.listener.rest() == ["STOPPING=1"])
        }

        @Test func `the watchdog is silent after an echo that does not come back`() async throws {
            let scene = try Scene()
            scene.watchdog.start()
            await scene.waits(until: .seconds(10))
            #expect(scene.listener.rest() == ["WATCHDOG=1"])
            let waker = Waker()
            scene.held.withLock { $0 = waker }
            scene.advance(to: .seconds(10))
            await scene.waits(until: .seconds(15))
            _ = await scene.echoes.first(2)
            scene.advance(to: .seconds(15))
            for round in 2...20 {
                await scene.waits(until: .seconds(10 * round))
                scene.advance(to: .seconds(10 * round))
            }
            await scene.waits(until: .seconds(210))
            #expect(scene.listener.rest() == [])
            // What has not answered is not asked again, until it answers.
            #expect(scene.echoes.elements.count == 2)
            scene.held.withLock { $0 = nil }
            waker.wake()
            await eventually {
                scene.clock.advanceToNextAlarm()
                return scene.echoes.elements.count > 2
            }
            #expect(await scene.listener.first(1) == ["WATCHDOG=1"])
        }

        @Test func `a stopped watchdog asks and reports no more`() async throws {
            let scene = try Scene()
            scene.watchdog.start()
            await scene.waits(until: .seconds(10))
            scene.watchdog.stop()
            await eventually { scene.timerQueue.count == 0 }
            scene.watchdog.start()
            scene.advance(to: .seconds(100))
            scene.manager.status("later")
            #expect(await scene.listener.first(2) == ["WATCHDOG=1", "STATUS=later"])
            #expect(scene.echoes.elements.count == 1)
        }

        @Test func `a watchdog that is released stops`() async throws {
            let directory = TemporaryDirectory()
            let listener = try #require(NotifyListener(directory.url("notify").path))
            let timerQueue = TimerQueue(timekeeper: ManualClock().timekeeper)
            var watchdog = Watchdog(
                environment: ["WATCHDOG_USEC": "1000"], process: 1,
                manager: ServiceManager(environment: listener.environment),
                timerQueue: timerQueue, echoes: [])
            watchdog?.start()
            #expect(await listener.first(1) == ["WATCHDOG=1"])
            watchdog = nil
            await eventually { timerQueue.count == 0 }
        }

        @Test(
            arguments: [
                ("20000000", nil, true), ("20000000", "7", true), ("20000000", "8", false),
                ("20000000", "", false), ("20000000", "x", false), (nil, "7", false),
                ("", nil, false), ("0", nil, false), ("-1", nil, false), ("1.5", nil, false),
                ("9223372036854775807", nil, true), ("9223372036854775808", nil, false),
            ] as [(String?, String?, Bool)])
        func `there is a watchdog where systemd expects one of this process`(
            interval: String?, process: String?, isThere: Bool
        ) throws {
            let directory = TemporaryDirectory()
            let listener = try #require(NotifyListener(directory.url("notify").path))
            let environment = ["WATCHDOG_USEC": interval, "WATCHDOG_PID": process]
                .compactMapValues { $0 }
            func make(_ manager: ServiceManager) -> Watchdog? {
                Watchdog(
                    environment: environment, process: 7, manager: manager,
                    timerQueue: TimerQueue(timekeeper: ManualClock().timekeeper), echoes: [])
            }
            let watchdog = make(ServiceManager(environment: listener.environment))
            #expect((watchdog != nil) == isThere)
            #expect(make(ServiceManager(environment: [:])) == nil)
        }
    }
#endif
