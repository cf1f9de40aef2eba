// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingCache
@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Loads whose stored body is not what was stored.
@Suite struct DamagedBodyTests {
    private let bed = DiskLoadBed()

    @Test(arguments: [0, 70_000, 2_999_999])
    func `a damaged body is asked of the server, and nothing of it is delivered whole or to a file`(
        position: Int
    ) async throws {
        let file = bed.disk.temporary.url("file")
        for sink in [ResponseSink.memory, .file(file)] {
            try await bed.store(bed.large)
            try bed.damage(position)
            let (service, cache) = try bed.process([bed.fresh(Data("new".utf8))])
            let response = try await service.loader.response(for: .make { $0.responseSink = sink })
            #expect(try response.body ?? Data(contentsOf: file) == Data("new".utf8))
            #expect(response.metrics.source == .network)
            let again = try await service.loader.response(for: .make())
            #expect(again.body == Data("new".utf8))
            #expect(again.metrics.source == .cache)
            #expect(service.transport.attempts.count == 1)
            service.expectNothingLeft()
            await cache.removeAll()
        }
    }

    @Test func `a damaged body ends a load in chunks with an error, after right bytes only`()
        async throws
    {
        for (position, isDelivered) in [(0, false), (1_000_000, true)] {
            try await bed.store(bed.large)
            try bed.damage(position)
            let (service, cache) = try bed.process([bed.fresh(Data("new".utf8))])
            var received = Data()
            do {
                for try await chunk in service.loader.chunks(for: .make()) { received += chunk }
                #expect(!isDelivered)
                #expect(received == Data("new".utf8))
            } catch let error as DataLoaderError {
                #expect(isDelivered)
                #expect(error.kind == .transport(reason: "the stored body cannot be read"))
                #expect(received == bed.large.prefix(received.count))
                #expect(received.count <= 1_000_000)
            }
            service.expectNothingLeft()
            await cache.removeAll()
        }
    }

    @Test func `a damaged body is not cached, where only the cache may answer`() async throws {
        try await bed.store(bed.large)
        try bed.damage(0)
        let (service, _) = try bed.process([bed.fresh(Data("new".utf8))])
        await #expect(throws: DataLoaderError.notCached) {
            try await service.loader.response(for: .make { $0.cachePolicy = .cacheOnly })
        }
        #expect(service.transport.attempts.isEmpty)
        service.expectNothingLeft()
    }

    @Test func `the rest of a damaged body is asked of no server, where only the cache may answer`()
        async throws
    {
        try await bed.store(bed.large, ["ETag": "\"1\""])
        try bed.damage(1_000_000)
        let only: [@Sendable (inout DataLoaderRequest) -> Void] = [
            { $0.cachePolicy = .cacheOnly },
            { $0.headers["Cache-Control"] = "only-if-cached, max-stale" },
        ]
        for change in only {
            let (service, _) = try bed.process()
            let request = DataLoaderRequest.make {
                change(&$0)
                $0.retryPolicy = .immediately(maximumRetries: 1)
            }
            var received = Data()
            do {
                for try await chunk in service.loader.chunks(for: request) { received += chunk }
                Issue.record("a damaged body is whole")
            } catch let error as DataLoaderError {
                #expect(error.kind == .transport(reason: "the stored body cannot be read"))
                #expect(error.stopReason == .alreadyDelivered)
            }
            #expect(received == bed.large.prefix(received.count))
            #expect(!received.isEmpty)
            #expect(service.transport.attempts.isEmpty)
            service.expectNothingLeft()
        }
    }

    @Test func `a damaged body in place of an error ends with the error`() async throws {
        try await bed.store(bed.large, ["Cache-Control": "stale-if-error=600"])
        try bed.damage(0)
        let (service, _) = try bed.process(
            [.respond(status: 503), .respond(status: 503)],
            clock: ManualClock(date: Date(timeIntervalSince1970: 1_767_225_700)))
        let response = try await service.loader.response(for: .make())
        #expect(response.error?.kind == .status(.serviceUnavailable))
        #expect(service.transport.attempts.count == 2)
        service.expectNothingLeft()
    }
}
