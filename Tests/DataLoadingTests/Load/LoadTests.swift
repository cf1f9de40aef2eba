// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation
import Testing

@Suite struct LoadTests {
    @Test func `a whole response is delivered once`() async {
        let bed = TestBed([.respond(status: 200, body: Data("hello".utf8))])
        bed.loader.perform(.make("/a"))
        guard case .success(let response)? = await bed.outcome() else {
            Issue.record("no success")
            return
        }
        #expect(response.body == Data("hello".utf8))
        #expect(response.statusCode == .ok)
        #expect(await bed.observer.entries(1).count == 1)
        #expect(bed.delegate.events.count == 1)
        #expect(bed.loader.currentRequests.isEmpty)
    }

    @Test func `a status outside 200 to 299 is delivered as an error with its body`() async {
        let bed = TestBed([.respond(status: 404, body: Data("gone".utf8))])
        bed.loader.perform(.make("/a"))
        guard case .error(let response)? = await bed.outcome() else {
            Issue.record("no error")
            return
        }
        #expect(response.error == .status(.notFound))
        #expect(response.body == Data("gone".utf8))
    }

    @Test func `a body beyond the limit is dropped, whatever the transport does`() async {
        let bed = TestBed([.respond(status: 200, body: Data(repeating: 1, count: 11))]) {
            $0.limits.body = 10
        }
        bed.loader.perform(.make("/a"))
        let response = await bed.delegate.outcomes(1)[0].response
        #expect(response?.error == .bodyTooLarge(limit: 10))
        #expect(response?.body == nil)
    }

    // A server may announce any length, of a body that comes in any pieces.
    @Test(arguments: [nil, "30", "5", "0", "4194305", "9000000000000000000", "x"] as [String?])
    func `a body in pieces is whole, whatever length its head announces`(length: String?) async {
        let pieces = (0..<3).map { Data(repeating: UInt8($0), count: 10) }
        let bed = TestBed([
            .run { attempt in
                attempt.sendHead(
                    status: 200, headers: length.map { ["Content-Length": $0] } ?? [:])
                for piece in pieces { attempt.send(piece) }
                attempt.end()
            }
        ])
        bed.loader.perform(.make("/a"))
        #expect(await bed.outcome()?.response?.body == Data(pieces.joined()))
    }

    @Test func `a load pauses before its retries and then succeeds`() async {
        let bed = TestBed([
            .respond(status: 503), .fail(.connectRefused), .respond(status: 200),
        ])
        bed.loader.perform(.make("/a") { $0.maximumRetryCount = 2 })
        for attempts in 1...2 {
            _ = await bed.transport.attempts(attempts)
            await bed.clock.waitForAlarms(1, within: .seconds(30))
            bed.clock.advanceToNextAlarm()
        }
        guard case .success(let response)? = await bed.outcome() else {
            Issue.record("no success")
            return
        }
        #expect(response.metrics.retries == 2)
    }
}

extension SocketTests {
    /// The whole stack.
    @Suite struct LoadSocketTests {
        @Test func `a load and its chunks arrive from a real socket`() async throws {
            let server = try LoopbackServer { _ in .ok("hello") }
            defer { server.stop() }
            let service = DataLoaderService()
            let loader = service.makeFactory().makeDataLoader()
            let response = try await loader.response(for: DataLoaderRequest(url: server.url("/x")))
            #expect(response.body == Data("hello".utf8))
            var size = 0
            for try await chunk in loader.chunks(for: DataLoaderRequest(url: server.url("/x"))) {
                size += chunk.count
            }
            #expect(size == 5)
            await service.shutDown(gracePeriod: .zero)
        }
    }
}
