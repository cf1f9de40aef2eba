// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

extension SecurityTests {
    // Each of 256 bytes in a server's Location; `WireBytesTests` has those of callers.
    // CVE-2026-28970, CVE-2023-0040, CVE-2022-3918, CVE-2022-27780.
    @Suite struct LocationBytesTests {
        private static let places = [
            "/a#b", "?a#b", "//a#b/", "http://a#b/", "http://a#b:80/", "http://h:8#0/", "#:x",
            "ht#tp://h/", "http:#/h/", "http://h/x?a#b", "http://[::#1]/", "http://u#@h/",
        ]

        /// The request that the transport got after a Location, if any.
        private static func followed(_ location: String) -> TransportRequest? {
            let bed = TestBed(
                [.respond(status: 302, headers: ["Location": location])],
                otherwise: .respond(status: 200))
            bed.loader.perform(.make("/start"))
            bed.settle()
            #expect(bed.delegate.events.count == 1)
            return bed.transport.attempts.dropFirst().first?.request
        }

        @Test(arguments: UInt8.min...UInt8.max)
        func `a Location hands only visible ASCII to the transport`(byte: UInt8) {
            let text = String(UnicodeScalar(byte))
            for place in Self.places {
                guard let sent = Self.followed(place.replacing("#", with: text)) else { continue }
                #expect(sent.text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
                #expect(sent.url.absoluteString.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
                guard let target = try? RequestTarget(text: sent.text) else {
                    Issue.record("\(sent.text) is no target")
                    continue
                }
                // Both forms of the URL have the same origin and no user.
                #expect((try? RequestTarget(sent.url))?.origin == target.origin)
                #expect(sent.url.user == nil && sent.url.fragment == nil)
            }
        }

        @Test(arguments: [
            "/x\r\nX-Injected: 1", "/x\nX-Injected: 1", "http://h\r\nX-Injected: 1/",
            "http://h/\0", "http://h\t/", "//h\u{85}/", "/\u{2028}", "http://\u{FF48}/",
            "http://h\u{0}.test/", "http://h%2F@other.test/", "http://a.test%2Fb/",
            "http://a.test%00b/", "http://a。test/", "http://h /", "http://h:80\\@other/",
        ])
        func `a Location that could inject a line or another host is not followed`(location: String)
        {
            #expect(Self.followed(location) == nil)
        }

        @Test func `a Location keeps its percent escapes`() {
            let sent = Self.followed("/x%0d%0aX-Injected:%201%00%2F..%5C")
            #expect(sent?.text == "http://origin.test/x%0d%0aX-Injected:%201%00%2F..%5C")
        }
    }
}

#if canImport(Glibc) || canImport(Musl)
    extension SocketTests {
        @Suite struct SecurityTestsLocation {
            @Test func `every byte in a Location is sent unchanged or not at all`()
                async throws
            {
                let server = try LoopbackServer { request in
                    guard request.path == "/start",
                        let byte = request.query.flatMap({ UInt8($0) })
                    else { return .ok() }
                    let head = [UInt8](
                        "HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: /a".utf8)
                    let tail = [UInt8]("b\r\n\r\n".utf8)
                    return .raw(.bytes(head + [byte] + tail))
                }
                let service = DataLoaderService()
                let loader = service.makeFactory().makeDataLoader()
                var followed: [UInt8] = []
                for byte in UInt8.min...UInt8.max {
                    let before = server.requestCount
                    let url = server.url("/start?\(byte)")
                    _ = try? await loader.response(for: DataLoaderRequest(url: url))
                    let requests = server.requests.suffix(server.requestCount - before)
                    guard requests.count == 2, let second = requests.last else {
                        #expect(requests.count == 1)
                        continue
                    }
                    followed.append(byte)
                    let kept = byte == UInt8(ascii: "#") ? "/a" : "/a\(UnicodeScalar(byte))b"
                    #expect(second.target == kept)
                    #expect(second.headers.fields.count <= 4)
                }
                #expect(followed == Array(0x21...0x7E))
                await service.shutDown(gracePeriod: .zero)
            }
        }
    }
#endif
