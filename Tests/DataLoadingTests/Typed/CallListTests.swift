// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import DataLoadingSupport
import Foundation
import Testing

// A loader's list of its calls, and whether a call was cancelled.
@Suite struct CallListTests {
    private let url = testURL("http://origin.test")

    private func expectSame(
        _ calls: [DataLoaderCall], _ others: [DataLoaderCall],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let numbers = calls.map { ObjectIdentifier($0) }
        #expect(numbers == others.map { ObjectIdentifier($0) }, sourceLocation: sourceLocation)
    }

    @Test func `a loader lists the calls that have started and not ended, oldest first`() async {
        let bed = TestBed()
        let calls = (0..<3).map { _ in bed.loader.request(url) }
        #expect(bed.loader.calls.isEmpty)
        for call in calls { call.response { _ in } }
        bed.loader.perform(.make())
        expectSame(bed.loader.calls, calls)
        await bed.attempt(1).respond(status: 200)
        _ = try? await calls[1].response()
        expectSame(bed.loader.calls, [calls[0], calls[2]])
        bed.loader.cancelAllLoads()
        bed.settle()
        #expect(bed.loader.calls.isEmpty)
        #expect(calls.map(\.isCancelled) == [true, false, true])
        bed.expectNothingLeft()
    }

    @Test func `a call that interceptors load twice is listed once`() async {
        let bed = TestBed(interceptors: [Twice()])
        let call = bed.loader.request(url)
        call.response { _ in }
        _ = await bed.attempt(1)
        expectSame(bed.loader.calls, [call])
        bed.loader.cancelAllLoads()
        bed.settle()
        #expect(bed.loader.calls.isEmpty)
    }

    @Test func `a loader lists a call that nobody keeps, and that can be kept again`() async throws
    {
        let bed = TestBed()
        let heard = EventRecorder<CallResponse<Data>>()
        let lost = Locked<DataLoader?>(bed.factory.makeDataLoader())
        lost.withLock { $0 }?.request(url).responseData { heard.record($0) }
        let call = try #require(lost.withLock { $0 }?.calls.first)
        #expect(lost.withLock { $0 }?.calls.first === call)
        // A call that is kept continues without its loader.
        lost.withLock { $0 = nil }
        await bed.attempt(0).respond(status: 200, body: Data("x".utf8))
        #expect(await heard.first(1)[0].value == Data("x".utf8))
        #expect(try await call.responseData() == Data("x".utf8))
        #expect(!call.isCancelled)
        bed.expectNothingLeft()
    }

    @Test func `a call from a loader's list that is cancelled ends the handlers of the first one`()
        async throws
    {
        let bed = TestBed()
        let heard = EventRecorder<CallResponse<Data>>()
        bed.loader.request(url).responseData { heard.record($0) }
        _ = await bed.attempt(0)
        try #require(bed.loader.calls.first).cancel()
        #expect(await heard.first(1)[0].error as? DataLoaderError == .cancelled)
        bed.expectNothingLeft()
    }

    @Test func `a call whose body goes to a sink is listed too`() {
        let bed = TestBed()
        let sink = ResponseSink.closure { _ in }
        let call = bed.loader.request(url).modify { $0.responseSink = sink }
        call.response { _ in }
        expectSame(bed.loader.calls, [call])
        call.cancel()
        bed.expectNothingLeft()
    }

    @Test func `a call says whether it was cancelled, whoever cancelled it`() async {
        let ways: [@Sendable (TestBed, DataLoaderCall, Task<Void, Never>) -> Void] = [
            { _, call, _ in call.cancel() },
            { _, _, task in task.cancel() },
            { bed, _, _ in bed.loader.cancelAllLoads() },
            { bed, _, _ in bed.service.cancelAllLoads() },
        ]
        for cancel in ways {
            let bed = TestBed()
            let call = bed.loader.request(url)
            #expect(!call.isCancelled)
            // Started here, so that the call has its load when it is cancelled.
            call.response { _ in }
            let task = Task { _ = try? await call.response() }
            _ = await bed.attempt(0)
            #expect(!call.isCancelled)
            cancel(bed, call, task)
            // A task that is cancelled may not wait for the call yet.
            if !task.isCancelled { #expect(call.isCancelled) }
            await task.value
            #expect(call.isCancelled)
            bed.expectNothingLeft()
        }
    }

    @Test func `a call that ended in another way is not cancelled`() async throws {
        for answer in [ScriptedAnswer.respond(status: 200), .fail(.dns)] {
            let bed = TestBed(otherwise: answer)
            let call = bed.loader.request(url)
            _ = try? await call.response()
            call.cancel()
            #expect(!call.isCancelled)
        }
        let unstarted = TestBed().loader.request(url)
        unstarted.cancel()
        #expect(unstarted.isCancelled)
    }

    @Test func `a call accepts statuses by number`() async throws {
        let bed = TestBed(otherwise: .respond(status: 404))
        #expect(
            try await bed.loader.request(url).validateStatusCode(in: 200, 404).response().body
                != nil)
        await #expect(throws: DataLoaderError.status(.notFound)) {
            try await bed.loader.request(url).validateStatusCode(in: 200).response()
        }
    }

    @Test func `a task of a call has a value and a result, and ends the call when it is cancelled`()
        async throws
    {
        let bed = TestBed([.respond(status: 200, body: Data("[7]".utf8))])
        let call = bed.loader.request(url)
        let task = Task { try await call.responseJSON() }
        #expect(try await task.value == .array([.number(7)]))
        #expect(try await task.result.get() == .array([.number(7)]))
        let held = Task { try await bed.loader.request(url).responseJSON() }
        _ = await bed.attempt(1)
        held.cancel()
        await #expect(throws: DataLoaderError.cancelled) { try await held.value }
        bed.expectNothingLeft()
    }
}

/// Loads each request twice at once.
private struct Twice: Interceptor {
    func intercept(
        _ request: DataLoaderRequest, next: @escaping NextLoad
    ) async throws -> DataLoaderResponse {
        async let other = next(request)
        let response = try await next(request)
        _ = try await other
        return response
    }
}
