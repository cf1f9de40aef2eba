// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingSupport
@testable import DataLoadingTesting
import Dispatch
import Foundation
import Testing

/// A manual clock as a `Clock`, and one that moves by itself.
@Suite(.timeLimit(.minutes(5))) struct AutoAdvanceTests {
    private let clock = ManualClock()

    @Test func `code that takes any clock sleeps on a manual clock`() async throws {
        let poller = Poller(clock: clock)
        async let polled: Void = poller.poll()
        await clock.waitForAlarms(1)
        clock.advance(by: .seconds(10))
        try await polled
        #expect(clock.now.elapsed == .seconds(10))
    }

    @Test func `instants of a manual clock are compared and measured`() {
        let start = clock.now
        clock.advance(by: .seconds(3))
        #expect(start < clock.now)
        #expect(start.duration(to: clock.now) == .seconds(3))
        #expect(start.advanced(by: .seconds(3)) == clock.now)
        #expect(clock.measure { clock.advance(by: .seconds(2)) } == .seconds(2))
        #expect(clock.minimumResolution == .nanoseconds(1))
    }

    @Test func `a sleep until an instant that has passed ends at once`() async throws {
        let start = clock.now
        clock.advance(by: .seconds(1))
        try await clock.sleep(until: start)
        try await clock.sleep(until: clock.now)
        #expect(clock.pendingAlarms == 0)
    }

    @Test func `a cancelled sleep until an instant ends and leaves nothing`() async {
        let sleeper = Task { [clock] in
            try await clock.sleep(until: clock.now.advanced(by: .seconds(1)))
        }
        await clock.waitForAlarms(1)
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(clock.pendingAlarms == 0)
    }

    @Test func `a clock that was used meanwhile does not move by itself`() async {
        let alarm = clock.timekeeper.makeAlarm {}
        alarm.set(for: Instant(nanoseconds: 1_000))
        let seen = clock.uses
        #expect(clock.advanceToNextAlarm())
        alarm.set(for: Instant(nanoseconds: 2_000))
        #expect(!clock.advanceToNextAlarm(unlessUsedSince: seen))
        #expect(!clock.advanceToNextAlarm(unlessUsedSince: clock.uses - 1))
        clock.noteWork(1)
        #expect(!clock.advanceToNextAlarm(unlessUsedSince: clock.uses))
        clock.noteWork(-1)
        #expect(clock.advanceToNextAlarm(unlessUsedSince: clock.uses))
        #expect(clock.elapsed == .nanoseconds(2_000))
    }

    @Test func `a clock that moves by itself does not pass the deadline of a load that has ended`()
        async throws
    {
        let loader = makeService().makeFactory().makeDataLoader()
        let elapsed = try await clock.autoAdvance {
            _ = try await loader.response(for: .make())
            try await passRounds()
            return clock.elapsed
        }
        #expect(elapsed == .zero)
    }

    @Test func `a clock that moves by itself goes from alarm to alarm until the body returns`()
        async throws
    {
        let instants = EventRecorder<Duration>()
        let value = try await clock.autoAdvance {
            for seconds in [60, 3_600, 1] {
                try await clock.sleep(for: .seconds(seconds))
                instants.record(clock.elapsed)
            }
            return "done"
        }
        #expect(value == "done")
        #expect(instants.elements == [.seconds(60), .seconds(3_660), .seconds(3_661)])
    }

    @Test func `a clock moves by itself only while the body runs`() async throws {
        // A body that is slow to return may see the clock move.
        await clock.autoAdvance {}
        async let nap: Void = clock.sleep(for: .seconds(9))
        await clock.waitForAlarms(1)
        try await passRounds()
        #expect(clock.elapsed == .zero)
        clock.advance(by: .seconds(9))
        try await nap
    }

    // Where a busy machine stops a thread between the alarm of a load's deadline and its attempt.
    @Test func `a clock does not move by itself while a load is being started`() async throws {
        let timekeeper = clock.timekeeper
        try await clock.autoAdvance {
            timekeeper.workBegan()
            async let nap: Void = clock.sleep(for: .seconds(60))
            await clock.waitForAlarms(1)
            for _ in 0..<500 {
                await Task.detached(priority: .background) { await Task.yield() }.value
            }
            #expect(clock.elapsed == .zero)
            timekeeper.workEnded()
            try await nap
        }
        #expect(clock.elapsed == .seconds(60))
    }

    @Test func `the error of the body ends the automatic advance`() async {
        await #expect(throws: DataLoaderError.dns) {
            try await clock.autoAdvance {
                try await clock.sleep(for: .seconds(5))
                throw DataLoaderError.dns
            }
        }
        #expect(clock.elapsed == .seconds(5))
        #expect(clock.pendingAlarms == 0)
    }

    @Test func `sleeps of several tasks end in the order of their instants`() async throws {
        let names = EventRecorder<String>()
        await withTaskGroup { group in
            for (name, seconds) in [("c", 30), ("a", 10), ("b", 20)] {
                group.addTask { [clock] in
                    try? await clock.sleep(for: .seconds(seconds))
                    names.record("\(name)@\(clock.elapsed)")
                }
            }
            // A task that has not gone to sleep yet would not be waited for.
            await clock.waitForAlarms(3)
            await clock.autoAdvance { await group.waitForAll() }
        }
        #expect(names.elements == ["a@10.0 seconds", "b@20.0 seconds", "c@30.0 seconds"])
    }

    @Test func `a load's retries and rates pass by themselves, and its deadline stays away`()
        async throws
    {
        var configuration = DataLoaderService.Configuration()
        configuration.transport = ScriptedTransport(
            [.respond(status: 503), .respond(status: 503)], otherwise: .respond(status: 200))
        let service = DataLoaderService(configuration: configuration, clock: clock)
        let loader = service.makeFactory().makeDataLoader()
        var request = DataLoaderRequest.make()
        request.retryPolicy = .constant(.seconds(5), maximumRetries: 3)
        service.rateLimiter.setRequestsPerSecond(0.5, forHostOf: request.url)
        let responses = try await clock.autoAdvance {
            let first = try await loader.response(for: request)
            let second = try await loader.response(for: request)
            return [first, second]
        }
        #expect(responses.map(\.statusCode) == [200, 200])
        #expect(responses.map(\.metrics.attempts) == [3, 1])
        #expect(clock.elapsed == .seconds(12))
    }

    // Factories and loaders outlive the service.
    @Test(arguments: [true, false])
    func `work on a service's queues keeps the clock from moving`(keepsService: Bool) async throws {
        let authoriser = HeldAuthoriser()
        var service: DataLoaderService? = makeService()
        let factory = service?.makeFactory(authorisers: [authoriser])
        let loader = try #require(factory).makeDataLoader()
        if !keepsService { service = nil }
        let response = try await clock.autoAdvance {
            async let response = loader.response(for: .make())
            _ = await authoriser.asked.first(1)
            // The deadline is the only alarm, and the factory's queue is at work.
            try await passRounds()
            #expect(clock.elapsed == .zero)
            authoriser.gate.signal()
            return try await response
        }
        #expect(response.statusCode == .ok)
        // The clock may move on when the load has ended and the body has not.
        #expect(response.metrics.totalTime == .zero)
        withExtendedLifetime(service) {}
    }

    @Test
    func `a clock advances for another service after one was released, without its queues`()
        async throws
    {
        weak var queue: DispatchQueue?
        weak var scripted: DispatchQueue?
        try await clock.autoAdvance {
            do {
                let transport = refusingOnce()
                let service = makeService(transport)
                queue = service.runtime.queue
                scripted = transport.queue
                let metrics = try await metrics(of: service)
                #expect(metrics.attempts == 2)
                #expect(metrics.totalTime == .seconds(5))
            }
            try await clock.sleep(for: .seconds(60))
            let metrics = try await metrics(of: makeService(refusingOnce()))
            #expect(metrics.attempts == 2)
            #expect(metrics.totalTime == .seconds(5))
            // The next rounds of the clock let go.
            for _ in 0..<1_000 where queue != nil || scripted != nil {
                try await clock.sleep(for: .seconds(1))
            }
        }
        #expect(queue == nil)
        #expect(scripted == nil)
        await eventually { clock.pendingAlarms == 0 }
    }

    private func refusingOnce() -> ScriptedTransport {
        ScriptedTransport([.respond(status: 503)], otherwise: .respond(status: 200))
    }

    /// Returns when another clock has jumped often, and this one has had the time for it.
    private func passRounds() async throws {
        let other = ManualClock()
        try await other.autoAdvance {
            for _ in 0..<20 { try await other.sleep(for: .seconds(1)) }
        }
    }

    private func makeService(
        _ transport: ScriptedTransport = ScriptedTransport(otherwise: .respond(status: 200))
    ) -> DataLoaderService {
        var configuration = DataLoaderService.Configuration()
        configuration.transport = transport
        return DataLoaderService(configuration: configuration, clock: clock)
    }

    /// The metrics of a load that retries after 5 seconds.
    private func metrics(of service: DataLoaderService) async throws -> LoadMetrics {
        var request = DataLoaderRequest.make()
        request.retryPolicy = .constant(.seconds(5), maximumRetries: 1)
        let loader = service.makeFactory().makeDataLoader()
        return try await loader.response(for: request).metrics
    }

    /// Blocks its factory's queue.
    private final class HeldAuthoriser: Authoriser {
        let asked = EventRecorder<Void>()
        let gate = DispatchSemaphore(value: 0)

        func authorise(_ request: DataLoaderRequest) -> Authorisation {
            asked.record(())
            gate.wait()
            return .unchanged
        }
    }

    /// Code of a user that takes a clock.
    private struct Poller: Sendable {
        let clock: any Clock<Duration>

        func poll() async throws {
            try await clock.sleep(for: .seconds(10))
        }
    }
}
