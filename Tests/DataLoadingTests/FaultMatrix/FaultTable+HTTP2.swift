// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingAuth
    @testable import DataLoadingCurl
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation

    extension FaultTable {
        /// Row 38: faults on an HTTP/2 connection, which whole loads over TLS use.
        static let http2Faults: [Fault] = [
            http2("a whole response, no fault") {
                HTTP2Peer.response($0, "1234567890")
            } expectation: {
                FaultExpectation("success", in: $0)
            },
            // Not processed, so any method may be repeated: once in any case, and as a retry.
            http2("GOAWAY that leaves the request out") { _ in
                [.send([.goAway(last: 0)])]
            } expectation: {
                FaultExpectation("http2", retried: .always, in: $0).replacing(1)
            },
            // On a used connection most libcurl versions report this as a dead connection.
            http2("RST_STREAM: refused") {
                [.send([.reset($0, 7)])]
            } expectation: { cell in
                if cell.isReused && cell.isPost && !tellsRefusals {
                    return .staleable("http2", in: cell)
                }
                return FaultExpectation("http2", retried: .always, in: cell).replacing(1)
            },
            http2("RST_STREAM before the head") {
                [.send([.reset($0, 2)])]
            } expectation: {
                FaultExpectation("http2", retried: .idempotent, in: $0)
            },
            http2("RST_STREAM inside the body") {
                [.send([.head($0, length: 10), .data($0, "12345", isLast: false), .reset($0, 2)])]
            } expectation: {
                FaultExpectation("http2", retried: .whole, in: $0)
            },
            http2("END_STREAM inside the body") {
                [.send([.head($0, length: 10), .data($0, "12345", isLast: true)])]
            } expectation: {
                FaultExpectation("http2", retried: .whole, in: $0)
            },
            http2("a close inside the body") {
                [.send([.head($0, length: 10), .data($0, "12345", isLast: false)]), .close]
            } expectation: {
                FaultExpectation("truncated_body", retried: .whole, in: $0)
            },
            http2("a connection that has died", idle: .milliseconds(250)) { _ in
                [.stall]
            } expectation: {
                FaultExpectation("idle_timeout", retried: .idempotent, in: $0)
            },
            // nghttp2 acknowledges all of them in bounded memory.
            http2("a flood of SETTINGS", idle: .milliseconds(500)) { _ in
                [.flood(.settings, count: 20_000), .stall]
            } expectation: { cell in
                guard mayEndFloods else {
                    return FaultExpectation("http2", "idle_timeout", retried: .idempotent, in: cell)
                }
                // A connection that has timed out may be reused and fail then.
                let attempts = cell.isPost ? 1...1 : 2...3
                return FaultExpectation("http2", "idle_timeout", "connection_reset", in: cell)
                    .attempting(attempts).requesting(attempts)
            },
            http2("a flood of PING", idle: .milliseconds(500)) { _ in
                [.flood(.ping, count: 20_000), .stall]
            } expectation: {
                FaultExpectation("http2", "idle_timeout", retried: .idempotent, in: $0)
            },
        ]

        private static let version = CurlLibrary.shared?.version ?? 0

        /// Whether nghttp2 may end a connection that is flooded with SETTINGS: 1.70.0 usually does,
        /// depending on how many arrive at once (seen with libcurl 8.23.0); 1.52.0 does not, with
        /// 7.88.1 and 8.14.1.
        private static let mayEndFloods = version >= 0x08_17_00

        /// Whether libcurl reports a stream as refused on a used connection: seen on 8.23.0, not on
        /// 7.88.1 and 8.14.1.
        private static let tellsRefusals = version >= 0x08_17_00

        private static func http2(
            _ title: String, idle: Duration? = nil,
            _ answer: @escaping @Sendable (UInt32) -> [HTTP2Peer.Step],
            expectation: @escaping @Sendable (FaultCell) -> FaultExpectation
        ) -> Fault {
            Fault(
                number: 38, title: "HTTP/2: " + title,
                axes: FaultAxes(modes: [.whole], schemes: [.https])
            ) { cell in
                let warm = cell.isReused ? 1 : 0
                let peer = HTTP2Peer { request, stream in
                    request < warm ? HTTP2Peer.response(stream, "warm") : answer(stream)
                }
                return FaultScene(script: peer.script).with {
                    $0.identity = .http2
                    $0.meant = .bytes(Data("1234567890".utf8))
                    $0.requestCount = { peer.requests - warm }
                    if let idle { $0.timeouts.idle = idle }
                    $0.check = { seen in
                        let version = seen.outcome?.response?.metrics.httpVersion
                        // Unknown before a head.
                        return version == nil || version == "2" ? nil : "HTTP/\(version ?? "")"
                    }
                }
            } expectation: {
                expectation($0)
            }
        }
    }
#endif
