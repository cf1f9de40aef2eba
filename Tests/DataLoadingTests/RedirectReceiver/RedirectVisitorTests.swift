// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
@testable import DataLoadingRedirectReceiver
import Foundation
import Testing

extension SocketTests {
    /// Connections that come before the redirect's and stay open.
    @Suite struct RedirectVisitorTests {
        private static let request = "GET /callback HTTP/1.1\r\nHost: a\r\n\r\n"

        /// The target of the first request, unless as many looks bring none.
        ///
        /// A look that finds nothing new takes a tenth of a second, and a visitor is given five.
        private func target(of socket: RedirectSocket, within looks: Int) -> String? {
            var rest = looks
            return socket.target(where: { $0 == "/callback" }) {
                rest -= 1
                return rest < 0
            }
        }

        // Browsers open connections in advance.
        @Test func `a redirect does not wait for connections that send nothing, or a part`()
            throws
        {
            let socket = try RedirectSocket(port: 0)
            let silent = try (0..<3).map { _ in try RawClient(port: socket.port) }
            let partial = try RawClient(port: socket.port)
            try partial.send("GET /callback")
            let client = try RawClient(port: socket.port)
            try client.send(Self.request)
            #expect(target(of: socket, within: 30) == "/callback")
            withExtendedLifetime((silent, partial, client)) {}
        }

        @Test func `a redirect comes through though other programs hold many connections`() throws {
            let socket = try RedirectSocket(port: 0)
            let silent = try (0..<40).map { _ in try RawClient(port: socket.port) }
            let client = try RawClient(port: socket.port)
            try client.send(Self.request)
            #expect(target(of: socket, within: 150) == "/callback")
            withExtendedLifetime((silent, client)) {}
        }

        @Test func `a request that comes in parts is put together`() throws {
            let socket = try RedirectSocket(port: 0)
            let client = try RawClient(port: socket.port)
            try client.send("GET /call")
            var looks = 0
            var isWhole = false
            let target = socket.target(where: { _ in true }) {
                looks += 1
                if looks == 4 {
                    isWhole = (try? client.send("back HTTP/1.1\r\n\r\n")) != nil
                }
                return looks > 1_000
            }
            #expect(isWhole)
            #expect(target == "/callback")
        }
    }
}
