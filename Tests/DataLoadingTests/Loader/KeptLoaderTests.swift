// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// What is read or awaited keeps its loader, as `response(for:)` does.
@Suite struct KeptLoaderTests {
    private func bed() -> TestBed {
        TestBed(otherwise: .respond(status: 200, body: Data("x".utf8)))
    }

    @Test func `chunks of a loader that nobody else keeps are read to the end`() async throws {
        let bed = bed()
        var body = Data()
        for try await chunk in bed.service.makeFactory().makeDataLoader().chunks(for: .make()) {
            body += chunk
        }
        #expect(body == Data("x".utf8))
    }

    @Test func `a call of a loader that nobody else keeps is awaited to the end`() async throws {
        let bed = bed()
        let body = try await bed.service.makeFactory().makeDataLoader()
            .request(testURL("http://origin.test")).responseData()
        #expect(body == Data("x".utf8))
    }

    @Test func `an iterator lets its loader go when its load is over`() async throws {
        let bed = bed()
        weak var loader: DataLoader?
        let iterator: DataChunks.Iterator
        do {
            let made = bed.factory.makeDataLoader()
            loader = made
            iterator = made.chunks(for: .make()).makeAsyncIterator()
        }
        #expect(loader != nil)
        while try await iterator.next() != nil {}
        #expect(loader == nil)
        #expect(try await iterator.next() == nil)
    }

    @Test func `a call lets its loader go when it has ended or was cancelled`() async throws {
        let bed = bed()
        for cancels in [false, true] {
            weak var loader: DataLoader?
            let call: DataLoaderCall
            do {
                let made = bed.factory.makeDataLoader()
                loader = made
                call = made.request(testURL("http://origin.test"))
            }
            #expect(loader != nil)
            if cancels { call.cancel() } else { _ = try await call.response() }
            await eventually { loader == nil }
            withExtendedLifetime(call) {}
        }
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
