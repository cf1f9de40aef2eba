// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

extension SocketTests {
    // RFC 8252 section 7.3
    @Suite struct LoopbackRedirectTests {
        /// Visits a place as a browser does.
        private func visit(_ url: URL) async throws -> DataLoaderResponse {
            let service = DataLoaderService()
            let loader = service.makeFactory().makeDataLoader()
            let response = try await loader.response(for: DataLoaderRequest(url: url))
            await service.shutDown(gracePeriod: .zero)
            return response
        }

        @Test func `returns where the browser was sent, and sends others away`() async throws {
            let receiver = try LoopbackRedirectReceiver()
            #expect(receiver.redirectURL.host == "127.0.0.1")
            async let redirect = receiver.redirect()
            let base = receiver.redirectURL.absoluteString
            let other = try await visit(testURL(base.replacing("/callback", with: "/favicon.ico")))
            #expect(other.statusCode == .notFound)
            let bare = try await visit(receiver.redirectURL)
            #expect(bare.statusCode == .notFound)
            let right = try await visit(testURL(base + "?code=a%20b&state=c"))
            #expect(right.statusCode == .ok)
            #expect(try await redirect.absoluteString == base + "?code=a%20b&state=c")
        }

        @Test func `is not held up by visitors who say nothing or nonsense`() async throws {
            let receiver = try LoopbackRedirectReceiver()
            let port = try #require(receiver.redirectURL.port)
            async let redirect = receiver.redirect()
            for bytes in ["", "\r\n\r\n", "POST /callback?x=1 HTTP/1.1\r\n\r\n"] {
                let client = try RawClient(port: UInt16(clamping: port))
                try client.send(bytes)
            }
            let url = testURL(receiver.redirectURL.absoluteString + "?code=1")
            _ = try await visit(url)
            #expect(try await redirect == url)
        }

        @Test func `stops waiting with its task`() async throws {
            let receiver = try LoopbackRedirectReceiver()
            let task = Task { try await receiver.redirect() }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }

        @Test func `stops waiting though a visitor has not said all`() throws {
            let socket = try RedirectSocket(port: 0)
            let client = try RawClient(port: socket.port)
            try client.send("GET /callback?code=1")
            let begun = ContinuousClock.now
            // The first look is before the visitor, the others are while it is silent.
            var looks = 0
            let query = socket.query(to: "/callback") {
                looks += 1
                return looks > 3
            }
            #expect(query == nil)
            #expect(ContinuousClock.now - begun < .seconds(4))
        }

        @Test func `refuses a port that is taken and a path that is none`() throws {
            let receiver = try LoopbackRedirectReceiver()
            let port = UInt16(clamping: receiver.redirectURL.port ?? 0)
            #expect(throws: AuthorisationError.self) { try LoopbackRedirectReceiver(port: port) }
            #expect(throws: AuthorisationError.self) { try LoopbackRedirectReceiver(path: "x") }
        }
    }
}
