// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading

import DataLoadingSupport
@testable import DataLoadingRedirectReceiver
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

        @Test
        func `a redirect receiver returns the browser's redirect, and answers others with 404`()
            async throws
        {
            let receiver = try LoopbackRedirectReceiver()
            #expect(receiver.redirectURL.host == "127.0.0.1")
            let page = testURL("https://auth.test/authorize?client_id=x&state=c")
            async let redirect = receiver.redirect(from: page)
            let base = receiver.redirectURL.absoluteString
            let other = try await visit(testURL(base.replacing("/callback", with: "/favicon.ico")))
            #expect(other.statusCode == .notFound)
            let bare = try await visit(receiver.redirectURL)
            #expect(bare.statusCode == .notFound)
            let forged = try await visit(testURL(base + "?code=b&state=d"))
            #expect(forged.statusCode == .notFound)
            let right = try await visit(testURL(base + "?code=a%20b&state=c"))
            #expect(right.statusCode == .ok)
            #expect(try await redirect.absoluteString == base + "?code=a%20b&state=c")
        }

        @Test func `a redirect receiver is not held up by silent or malformed requests`()
            async throws
        {
            let receiver = try LoopbackRedirectReceiver()
            let port = try #require(receiver.redirectURL.port)
            async let redirect = receiver.redirect(from: testURL("https://auth.test/?state=1"))
            for bytes in ["", "\r\n\r\n", "POST /callback?state=1 HTTP/1.1\r\n\r\n"] {
                let client = try RawClient(port: UInt16(clamping: port))
                try client.send(bytes)
            }
            let url = testURL(receiver.redirectURL.absoluteString + "?code=1&state=1")
            _ = try await visit(url)
            #expect(try await redirect == url)
        }

        @Test func `a redirect receiver stops waiting when its task is cancelled`() async throws {
            let receiver = try LoopbackRedirectReceiver()
            let task = Task { try await receiver.redirect(from: testURL("https://auth.test/")) }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }

        @Test(arguments: ["/callback/", "/call%20back", "/a/b/", "/callback?app=1"])
        func `a redirect receiver accepts only its own redirect`(path: String) async throws {
            let receiver = try LoopbackRedirectReceiver(path: path)
            async let redirect = receiver.redirect(from: testURL("https://auth.test/?state=1"))
            let base = receiver.redirectURL.absoluteString
            let url = testURL(base + (path.contains("?") ? "&" : "?") + "state=1&code=1")
            #expect(try await visit(url).statusCode == .ok)
            #expect(try await redirect == url)
        }

        @Test func `a redirect receiver listens on a port again as soon as it was released`()
            async throws
        {
            var receiver: LoopbackRedirectReceiver? = try LoopbackRedirectReceiver()
            let url = try #require(receiver?.redirectURL)
            let task = Task { [receiver] in
                try await receiver?.redirect(from: testURL("https://auth.test/?state=1"))
            }
            _ = try await visit(testURL(url.absoluteString + "?state=1"))
            #expect(try await task.value != nil)
            // The task may let go of it a moment after its end; the last owner closes the socket.
            while !isKnownUniquelyReferenced(&receiver) { await Task.yield() }
            receiver = nil
            let port = UInt16(clamping: url.port ?? 0)
            #expect(throws: Never.self) { try LoopbackRedirectReceiver(port: port) }
        }

        @Test
        func `a redirect receiver does not take an earlier login's redirect for the next one's`()
            async throws
        {
            let receiver = try LoopbackRedirectReceiver()
            let port = UInt16(clamping: receiver.redirectURL.port ?? 0)
            // Both are there before anybody waits.
            let clients = try [1, 2].map { state in
                let client = try RawClient(port: port)
                try client.send("GET /callback?state=\(state) HTTP/1.1\r\nHost: a\r\n\r\n")
                return client
            }
            let redirect = try await receiver.redirect(
                from: testURL("https://auth.test/?state=2"))
            #expect(redirect.query == "state=2")
            withExtendedLifetime(clients) {}
        }

        @Test func `a redirect receiver stops waiting though a request is incomplete`() async throws
        {
            let usual = try await usually(rounds: 3) {
                let socket = try RedirectSocket(port: 0)
                let client = try RawClient(port: socket.port)
                try client.send("GET /callback?")
                let begun = ContinuousClock.now
                // The first look is before the visitor, the others are while it is silent.
                var looks = 0
                let target = socket.target(where: { _ in true }) {
                    looks += 1
                    return looks > 3
                }
                #expect(target == nil)
                return ContinuousClock.now - begun
            }
            // A visitor is given five seconds; three looks come before they are over.
            #expect(usual.keeps(.seconds(4)), "\(usual)")
        }

        @Test func `a redirect receiver refuses a port that is taken and a path that is invalid`()
            throws
        {
            let receiver = try LoopbackRedirectReceiver()
            let port = UInt16(clamping: receiver.redirectURL.port ?? 0)
            #expect(throws: AuthorisationError.self) { try LoopbackRedirectReceiver(port: port) }
            #expect(throws: AuthorisationError.self) { try LoopbackRedirectReceiver(path: "x") }
        }
    }
}
