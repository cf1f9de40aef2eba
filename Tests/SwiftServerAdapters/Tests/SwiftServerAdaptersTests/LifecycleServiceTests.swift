// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingOperations
import DataLoadingTesting
import Logging
import ServiceLifecycle
@testable import SwiftServerAdapters
import Testing

@Suite(.timeLimit(.minutes(1))) struct LifecycleServiceTests {
    private let logger = Logger(label: "group") { _ in SwiftLogNoOpLogHandler() }

    /// A service that loads until its load ends, and notes when that was.
    private struct Crawler: Service {
        let bed: AdapterBed
        let outcome = EventRecorder<DataLoaderError?>()

        func run() async throws {
            outcome.record(await bed.error(of: .make()))
            try await gracefulShutdown()
        }
    }

    @Test func `a load that runs when the group ends has the grace period`() async throws {
        let bed = AdapterBed()
        let crawler = Crawler(bed: bed)
        let group = ServiceGroup(
            services: [LifecycleService(bed.service, gracePeriod: .seconds(60)), crawler],
            logger: logger)
        async let end: Void = group.run()
        let attempt = await bed.transport.attempts(1)[0]
        await group.triggerGracefulShutdown()
        attempt.respond(status: 200)
        try await end
        #expect(crawler.outcome.elements == [nil])
        #expect(bed.transport.isShutDown)
        #expect(await bed.error(of: .make()) == .serviceInvalidated)
    }

    @Test func `a load that does not end is cancelled after the grace period`() async throws {
        let bed = AdapterBed()
        let service = LifecycleService(bed.service, gracePeriod: .milliseconds(10))
        let group = ServiceGroup(services: [service], logger: logger)
        async let end: Void = group.run()
        async let error = bed.error(of: .make())
        _ = await bed.transport.attempts(1)
        await group.triggerGracefulShutdown()
        try await end
        #expect(await error == .cancelled)
        #expect(bed.transport.isShutDown)
    }

    @Test func `a task that is cancelled ends the service at once`() async {
        let bed = AdapterBed()
        let service = LifecycleService(bed.service, gracePeriod: .seconds(3_600))
        async let error = bed.error(of: .make())
        _ = await bed.transport.attempts(1)
        let task = Task { try await service.run() }
        task.cancel()
        _ = await task.result
        #expect(await error == .cancelled)
        #expect(bed.transport.isShutDown)
    }

    @Test func `operations end with their service`() async throws {
        let transport = ScriptedTransport()
        var configuration = DataLoaderService.Configuration()
        configuration.transport = transport
        let operations = Operations(
            OperationsConfiguration(environment: [:]), instrumenting: &configuration)
        try operations.start(for: DataLoaderService(configuration: configuration))
        let group = ServiceGroup(
            services: [LifecycleService(operations, gracePeriod: .seconds(60))], logger: logger)
        async let end: Void = group.run()
        await group.triggerGracefulShutdown()
        try await end
        #expect(transport.isShutDown)
        #expect(await operations.shutDown(gracePeriod: .zero) == nil)
    }
}
