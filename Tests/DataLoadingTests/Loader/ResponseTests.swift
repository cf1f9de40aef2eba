// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// CN-05, LC-01: any status is a response; only a load without one throws.
@Suite struct ResponseTests {
    @Test func `returns any status, and throws only when there is no response`() async throws {
        for code in [200, 204, 304, 401, 404, 500] {
            let bed = TestBed([.respond(status: code, body: Data("b".utf8))])
            let response = try await bed.loader.response(for: .make())
            #expect(response.statusCode.rawValue == code)
            #expect(response.body == Data("b".utf8))
            #expect(bed.delegate.events.isEmpty)
            bed.expectNothingLeft()
        }
        for error in [DataLoaderError.dns, .truncatedBody, .certificate(reason: "expired")] {
            let bed = TestBed([.fail(error, sent: .written)])
            await #expect(throws: error) { try await bed.loader.response(for: .make()) }
            bed.expectNothingLeft()
        }
    }

    @Test func `ignores chunks`() async throws {
        let bed = TestBed([.respond(status: 200, body: Data("b".utf8))])
        let response = try await bed.loader.response(for: .make { $0.chunks = true })
        #expect(response.body == Data("b".utf8))
    }

    @Test func `throws what is wrong with the request`() async {
        let bed = TestBed()
        await #expect(throws: DataLoaderError.invalidRequest(.method)) {
            try await bed.loader.response(
                for: .make { $0.method = HTTPMethod(rawValue: "G T") })
        }
    }

    @Test func `sends nothing for a task that was cancelled before`() async {
        let bed = TestBed()
        let gate = EventRecorder<Void>()
        let task = Task {
            _ = await gate.first(1)
            return try await bed.loader.response(for: .make())
        }
        task.cancel()
        gate.record(())
        await #expect(throws: DataLoaderError.cancelled) { try await task.value }
        #expect(bed.transport.attempts.isEmpty)
    }

    @Test func `throws cancelled when its task is cancelled meanwhile`() async {
        let bed = TestBed()
        let task = Task { try await bed.loader.response(for: .make()) }
        let attempt = await bed.attempt(0)
        task.cancel()
        await #expect(throws: DataLoaderError.cancelled) { try await task.value }
        #expect(attempt.isCancelled)
        bed.expectNothingLeft()
    }

    @Test func `keeps the response when its task is cancelled after it`() async throws {
        let bed = TestBed([.respond(status: 200)])
        let task = Task { try await bed.loader.response(for: .make()) }
        let response = try await task.value
        task.cancel()
        #expect(response.statusCode == .ok)
        #expect(await bed.observer.entries(1).first?.response.error == nil)
    }

    @Test func `throws cancelled when the loader is dropped`() async {
        let bed = TestBed()
        let task: Task<DataLoaderResponse, any Error>
        do {
            let loader = bed.factory.makeDataLoader()
            let waiter = ResponseWaiter(queue: loader.queue)
            _ = loader.start(.make(), waiter)
            task = Task { try await waiter.response() }
        }
        await #expect(throws: DataLoaderError.cancelled) { try await task.value }
        bed.expectNothingLeft()
    }

    @Test func `answers a hundred at once`() async throws {
        let bed = TestBed(otherwise: .respond(status: 200))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<100 {
                group.addTask {
                    let response = try await bed.loader.response(for: .make("/\(index)"))
                    #expect(response.request.url.path == "/\(index)")
                }
            }
            try await group.waitForAll()
        }
        bed.expectNothingLeft()
    }
}
