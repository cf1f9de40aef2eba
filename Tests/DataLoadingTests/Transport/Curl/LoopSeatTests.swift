// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingCurl
    import DataLoadingSupport
    import DataLoadingTesting
    import DataLoadingTransport
    import Dispatch
    import Foundation
    import Testing

    /// Who runs a loop while calls of users' code are made.
    @Suite(.timeLimit(.minutes(5))) struct LoopSeatTests {
        /// A follower on a thread of its own, whose pauses end when the test says so.
        private final class Follower: Sendable {
            let seat = LoopSeat()
            let pauses = EventRecorder<Void>()
            let result = EventRecorder<Bool>()
            private let mayLook = DispatchSemaphore(value: 0)

            init() {
                Thread.detachNewThread { [self] in
                    let takes = seat.standBy {
                        pauses.record(())
                        mayLook.wait()
                    } take: {
                        seat.endCall($0)
                    }
                    result.record(takes)
                }
            }

            /// Lets it look once it pauses for the time of a number.
            func look(_ number: Int) async {
                _ = await pauses.first(number)
                mayLook.signal()
            }
        }

        @Test func `a call that ends in time keeps the seat`() async {
            let follower = Follower()
            let call = follower.seat.beginCall()
            _ = await follower.pauses.first(1)
            #expect(follower.seat.endCall(call))
            await follower.look(1)
            // At the second look nothing is new, and it waits for the bell.
            await follower.look(2)
            let next = follower.seat.beginCall()
            _ = await follower.pauses.first(3)
            #expect(follower.seat.endCall(next))
            follower.seat.close()
            await follower.look(3)
            #expect(await follower.result.first(1) == [false])
        }

        @Test func `a call that lasts from one look to the next loses the seat`() async {
            let follower = Follower()
            let call = follower.seat.beginCall()
            await follower.look(1)
            #expect(await follower.result.first(1) == [true])
            #expect(!follower.seat.endCall(call))
        }

        @Test func `calls that come one after another are never taken`() async {
            let follower = Follower()
            for number in 1...50 {
                let call = follower.seat.beginCall()
                _ = await follower.pauses.first(number)
                #expect(follower.seat.endCall(call))
                let next = follower.seat.beginCall()
                await follower.look(number)
                _ = await follower.pauses.first(number + 1)
                #expect(follower.seat.endCall(next))
            }
            follower.seat.close()
            await follower.look(51)
            #expect(await follower.result.first(1) == [false])
        }

        @Test func `the seat that is kept for exit is not taken`() async {
            let follower = Follower()
            _ = follower.seat.beginCall()
            _ = await follower.pauses.first(1)
            follower.seat.keep()
            await follower.look(1)
            _ = await follower.pauses.first(2)
            follower.seat.close()
            await follower.look(2)
            #expect(await follower.result.first(1) == [false])
        }

        @Test func `who takes the seat leaves the bell to the next follower`() async {
            let first = Follower()
            _ = first.seat.beginCall()
            await first.look(1)
            #expect(await first.result.first(1) == [true])
            let second = EventRecorder<Bool>()
            Thread.detachNewThread { [seat = first.seat] in
                second.record(seat.standBy(pause: {}, take: { seat.endCall($0) }))
            }
            // Without the bell it would wait for ever.
            let call = first.seat.beginCall()
            #expect(await second.first(1) == [true])
            #expect(!first.seat.endCall(call))
        }

        @Test func `a thread has its calls only while it runs the loop and has a second thread`() {
            let calls = RoundCalls()
            #expect(RoundCalls.current == nil)
            calls.enter()
            #expect(RoundCalls.current == nil)
            var recruits = 0
            calls.recruit = {
                recruits += 1
                return recruits > 1
            }
            #expect(RoundCalls.current == nil)
            #expect(RoundCalls.current === calls)
            #expect(RoundCalls.current === calls)
            #expect(recruits == 2)
            calls.followerLeads()
            #expect(RoundCalls.current === calls)
            #expect(recruits == 3)
            calls.leave()
            #expect(RoundCalls.current == nil)
        }

        @Test
        func `the calls of a round take a millisecond, and the rest are made on their queues`()
            async throws
        {
            let loop = try CurlLoop.make()
            loop.calls.recruit = { true }
            let made = EventRecorder<Bool>()
            let caller = pthread_self()
            let queue = DispatchQueue(label: "delegate")
            for _ in 0..<10 {
                loop.calls.add(on: queue) {
                    made.record(pthread_equal(caller, pthread_self()) != 0)
                    let end = LoopClock.now + 600_000
                    while LoopClock.now < end {}
                }
            }
            let hasSeat = loop.makeCalls()
            // This thread runs no loop.
            loop.calls.leave()
            #expect(hasSeat)
            #expect(loop.calls.isEmpty)
            // Two, or one if this thread lost its core in it.
            let inPlace = await made.first(10).count { $0 }
            #expect((1...2).contains(inPlace))
        }

        @Test func `the next leader leaves what waited behind a blocked call to the queues`()
            async throws
        {
            let loop = try CurlLoop.make()
            let recruits = Locked(0)
            loop.calls.recruit = { recruits.add(1) > 0 }
            let queue = DispatchQueue(label: "delegate")
            let made = EventRecorder<Int>()
            loop.calls.add(on: queue) { [seat = loop.seat] in _ = seat.endCall(1) }
            for number in 0..<3 { loop.calls.add(on: queue) { made.record(number) } }
            // The seat is taken in the first call, as it is when a call blocks.
            #expect(!loop.makeCalls())
            #expect(made.elements.isEmpty)
            loop.now = 0
            loop.takeOver()
            #expect(await made.first(3) == [0, 1, 2])
            #expect(loop.now > 0)
            #expect(loop.calls.hasFollower)
            #expect(recruits.withLock { $0 } == 2)
        }

        @Test func `calls that no thread makes any more are made on their queues`() async {
            let made = EventRecorder<Int>()
            let calls = RoundCalls()
            let queue = DispatchQueue(label: "delegate")
            for number in 0..<3 { calls.add(on: queue) { made.record(number) } }
            calls.popFirst()?()
            #expect(made.elements == [0])
            calls.makeElsewhere()
            #expect(await made.first(3) == [0, 1, 2])
            #expect(calls.isEmpty)
        }
    }
#endif
