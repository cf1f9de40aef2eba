// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// An iterator, and a call that is kept, continue when their loader is dropped.
@Suite struct KeptLoaderTests {
    private func bed() -> TestBed {
        TestBed(otherwise: .respond(status: 200, body: Data("x".utf8)))
    }

    @Test func `chunks of a loader without other owners are read to the end`() async throws {
        let bed = bed()
        var body = Data()
        for try await chunk in bed.service.makeFactory().makeDataLoader().chunks(for: .make()) {
            body += chunk
        }
        #expect(body == Data("x".utf8))
    }

    @Test func `a call of a loader without other owners is awaited to the end`() async throws {
        let bed = bed()
        let body = try await bed.service.makeFactory().makeDataLoader()
            .request(testURL("http://origin.test")).responseData()
        #expect(body == Data("x".utf8))
    }

    @Test func `a kept call with a handler ends although its loader is dropped`() async {
        let bed = TestBed()
        let heard = EventRecorder<Data?>()
        let call = bed.service.makeFactory().makeDataLoader()
            .request(testURL("http://origin.test"))
            .responseData { heard.record($0.value) }
        await bed.attempt(0).respond(status: 200, body: Data("x".utf8))
        #expect(await heard.first(1) == [Data("x".utf8)])
        withExtendedLifetime(call) {}
    }

    @Test func `an iterator releases what its loader had when its load has ended`() async throws {
        let bed = bed()
        weak var loader: DataLoader?
        weak var core: LoaderCore?
        let iterator: DataChunks.Iterator
        do {
            let made = bed.factory.makeDataLoader()
            loader = made
            core = made.core
            iterator = made.chunks(for: .make()).makeAsyncIterator()
        }
        #expect(loader == nil)
        #expect(core != nil)
        while try await iterator.next() != nil {}
        // The thread that ended the load may still have it for a moment.
        await eventually { core == nil }
        #expect(try await iterator.next() == nil)
    }

    @Test func `an iterator that is dropped in mid-body cancels its load and releases the core`()
        async throws
    {
        let bed = TestBed()
        weak var core: LoaderCore?
        do {
            let made = bed.factory.makeDataLoader()
            core = made.core
            let iterator = made.chunks(for: .make()).makeAsyncIterator()
            async let chunk = iterator.next()
            let attempt = await bed.attempt(0)
            attempt.sendHead(status: 200)
            attempt.send(Data("half".utf8))
            #expect(try await chunk == Data("half".utf8))
        }
        await bed.attempt(0).waitUntilCancelled()
        await eventually { core == nil }
        bed.expectNothingLeft()
    }

    @Test func `a call releases what its loader had when it ended, was cancelled or dropped`()
        async throws
    {
        enum End: CaseIterable { case response, cancellation, drop }
        let bed = bed()
        for end in End.allCases {
            weak var loader: DataLoader?
            weak var core: LoaderCore?
            var call: DataLoaderCall?
            do {
                let made = bed.factory.makeDataLoader()
                loader = made
                core = made.core
                call = made.request(testURL("http://origin.test"))
            }
            #expect(loader == nil)
            #expect(core != nil)
            switch end {
            case .response: _ = try await call?.response()
            case .cancellation: call?.cancel()
            case .drop: call = nil
            }
            await eventually { core == nil }
            withExtendedLifetime(call) {}
        }
    }

    @Test
    func `a dropped loader cancels its delegate's loads while an iterator and a call continue`()
        async throws
    {
        let bed = TestBed()
        let delegate = RecordingDelegate()
        let heard = EventRecorder<Data?>()
        let unkept = EventRecorder<DataLoaderError?>()
        let iterator: DataChunks.Iterator
        let call: DataLoaderCall
        do {
            let loader = bed.factory.makeDataLoader(delegate: delegate)
            iterator = loader.chunks(for: .make("/chunks")).makeAsyncIterator()
            async let head = iterator.response()
            await bed.attempt(0).sendHead(status: 200)
            _ = try await head
            call = loader.request(testURL("http://origin.test/call"))
                .responseData { heard.record($0.value) }
            _ = await bed.attempt(1)
            loader.request(testURL("http://origin.test/unkept"))
                .responseData { unkept.record($0.error as? DataLoaderError) }
            loader.perform(.make("/delegate"))
            _ = await bed.attempt(3)
        }
        #expect(await unkept.first(1) == [.cancelled])
        bed.settle()
        #expect(bed.transport.attempts.map(\.isCancelled) == [false, false, true, true])
        #expect(delegate.events.isEmpty)
        await bed.attempt(0).send(Data("x".utf8))
        #expect(try await iterator.next() == Data("x".utf8))
        await bed.attempt(0).end()
        #expect(try await iterator.next() == nil)
        await bed.attempt(1).respond(status: 200, body: Data("y".utf8))
        #expect(await heard.first(1) == [Data("y".utf8)])
        withExtendedLifetime(call) {}
        bed.expectNothingLeft()
    }

    @Test func `a reset ends the load of an iterator whose loader is dropped`() async throws {
        let bed = TestBed()
        let iterator = bed.factory.makeDataLoader().chunks(for: .make()).makeAsyncIterator()
        let reading = Task { try await iterator.next() }
        _ = await bed.attempt(0)
        await bed.factory.reset()
        await #expect(throws: DataLoaderError.reset) { try await reading.value }
    }

    @Test(.timeLimit(.minutes(15)))
    func `two tasks that read one iterator start one load`() async throws {
        let transport = ScriptedTransport(otherwise: .respond(status: 200))
        var configuration = DataLoaderService.Configuration()
        configuration.transport = transport
        let loader = DataLoaderService(configuration: configuration).makeFactory().makeDataLoader()
        let rounds = 1_000
        for _ in 0..<rounds {
            let iterator = loader.chunks(for: .make { $0.method = .post }).makeAsyncIterator()
            async let head = iterator.response()
            async let chunk = iterator.next()
            _ = try await (head, chunk)
        }
        #expect(transport.attempts.count == rounds)
    }
}
