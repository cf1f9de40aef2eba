// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// Any status is a response; only a load without a response throws.
@Suite(.timeLimit(.minutes(15))) struct ResponseTests {
    @Test func `an awaited load returns any status and throws only without a response`()
        async throws
    {
        for code in [200, 204, 304, 401, 404, 500] {
            let bed = TestBed([.respond(status: code, body: Data("b".utf8))])
            let response = try await bed.loader.response(for: .make())
            #expect(response.statusCode?.rawValue == code)
            #expect(response.body == Data("b".utf8))
            #expect(bed.delegate.events.isEmpty)
            bed.expectNothingLeft()
        }
        for error in [DataLoaderError.dns, .truncatedBody, .certificate(reason: "expired")] {
            let bed = TestBed([.fail(error.kind, sent: .written)])
            await #expect(throws: error) { try await bed.loader.response(for: .make()) }
            bed.expectNothingLeft()
        }
    }

    @Test func `an awaited load ignores the chunks option`() async throws {
        let bed = TestBed([.respond(status: 200, body: Data("b".utf8))])
        let response = try await bed.loader.response(for: .make { $0.chunks = true })
        #expect(response.body == Data("b".utf8))
    }

    @Test func `an awaited load throws what is wrong with its request`() async {
        let bed = TestBed()
        await #expect(throws: DataLoaderError.invalidRequest(.method)) {
            try await bed.loader.response(
                for: .make { $0.method = HTTPMethod(rawValue: "G T") })
        }
    }

    @Test func `an awaited load sends nothing in a task that was already cancelled`() async {
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

    @Test func `an awaited load throws cancelled when its task is cancelled while it runs`() async {
        let bed = TestBed()
        let task = Task { try await bed.loader.response(for: .make()) }
        let attempt = await bed.attempt(0)
        task.cancel()
        await #expect(throws: DataLoaderError.cancelled) { try await task.value }
        await attempt.waitUntilCancelled()
        bed.expectNothingLeft()
    }

    @Test func `an awaited load keeps its response when its task is cancelled afterwards`()
        async throws
    {
        let bed = TestBed([.respond(status: 200)])
        let task = Task { try await bed.loader.response(for: .make()) }
        let response = try await task.value
        task.cancel()
        #expect(response.statusCode == .ok)
        #expect(await bed.observer.entries(1).first?.response.error == nil)
    }

    @Test func `an awaited load throws cancelled when its loader is released`() async {
        let bed = TestBed()
        let task: Task<DataLoaderResponse, any Error>
        do {
            let loader = bed.factory.makeDataLoader()
            let waiter = TaskEnd(queue: loader.queue)
            _ = loader.core.start(.make(), waiter)
            task = Task { try await waiter.response() }
        }
        await #expect(throws: DataLoaderError.cancelled) { try await task.value }
        bed.expectNothingLeft()
    }

    @Test func `a hundred awaited loads at once each get their response`() async throws {
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
