// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoadingSupport
    @testable import DataLoadingAuth
    import DataLoading
    import DataLoadingTesting
    import Foundation

    extension FaultTable {
        /// Rows 6, 7, 18, 20 to 26: malformed heads.
        static let headFaults: [Fault] =
            brokenHeads + silentHeads + largeHeads + oddHeads
            + informationalHeads

        private static let brokenHeads: [Fault] = [
            .answer(6, "RST inside the status line", .steps(.bytes("HTTP/1.1 20"), .flush, .reset))
            {
                .staleable("connection_reset", in: $0)
            },
            .answer(
                6, "RST inside a field",
                .steps(.bytes("HTTP/1.1 200 OK\r\nContent-Le"), .flush, .reset)
            ) {
                FaultExpectation("connection_reset", retried: .idempotent, in: $0)
            },
            // libcurl reports no byte of an incomplete line.
            .text(7, "FIN inside the status line", "HTTP/1.1 20") {
                .staleable("no_response", in: $0)
            },
            .text(7, "FIN inside a field", "HTTP/1.1 200 OK\r\nContent-Le") {
                FaultExpectation("truncated_head", retried: .idempotent, in: $0)
            },
            .text(7, "FIN before the empty line", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n") {
                FaultExpectation("truncated_head", retried: .idempotent, in: $0)
            },
        ]

        private static let silentHeads: [Fault] = [
            Fault(number: 18, title: "slow-loris head") { _ in
                FaultScene.answering(
                    .steps(.drip("HTTP/1.1 200 OK\r\n", every: .milliseconds(30)), .stall)
                ).impatient()
            } expectation: {
                FaultExpectation("idle_timeout", retried: .idempotent, in: $0)
            },
            Fault(number: 20, title: "stall before the head") { _ in
                FaultScene.answering(.steps(.stall)).impatient()
            } expectation: {
                FaultExpectation("idle_timeout", retried: .idempotent, in: $0)
            },
            Fault(number: 20, title: "stall inside the head") { _ in
                FaultScene.answering(.steps(.bytes("HTTP/1.1 200 OK\r\nA"), .flush, .stall))
                    .impatient()
            } expectation: {
                FaultExpectation("idle_timeout", retried: .idempotent, in: $0)
            },
        ]

        private static let largeHeads: [Fault] = [
            .text(21, "4 KB of random bytes", .garbage(4_096, seed: 21)) {
                FaultExpectation("framing", in: $0)
            },
            .text(21, "HTTP/0.9", "just text\r\nand more") { FaultExpectation("framing", in: $0) },
            .text(22, "a head line of 1 MB", large("a", 1_000_000)) {
                FaultExpectation("head_too_large", in: $0).within(.milliseconds(500))
            },
            .text(22, "100 000 fields", large("\r\nA: b", 100_000)) {
                FaultExpectation("head_too_large", in: $0).within(.milliseconds(500))
            },
            .text(22, "a head without end", large("\r\nA: b", 1_000_000_000)) {
                FaultExpectation("head_too_large", in: $0).within(.milliseconds(500))
            },
        ]

        private static func large(_ text: String, _ count: Int) -> LoopbackPayload {
            "HTTP/1.1 200 OK\r\nX: " + .repeating(Array(text.utf8), count: count) + "\r\n\r\n"
        }

        private static let oddHeads: [Fault] =
            [
                ("NUL", "HTTP/1.1 200 OK\r\nA: \0\r\nContent-Length: 2\r\n\r\nok"),
                ("a field without a colon", "HTTP/1.1 200 OK\r\nno colon\r\n\r\nok"),
            ].map { title, text in
                .text(23, title, .text(text), meant: "ok") { FaultExpectation("framing", in: $0) }
            }
            + [
                (
                    "obsolete folding",
                    "HTTP/1.1 200 OK\r\nA: 1\r\n 2\r\nContent-Length: 2\r\n\r\nok"
                ),
                ("bare LF", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok"),
                ("no space after a colon", "HTTP/1.1 200 OK\r\nContent-Length:2\r\n\r\nok"),
                ("no reason", "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok"),
            ].map { title, text in
                .text(23, title, .text(text), meant: "ok") { FaultExpectation("success", in: $0) }
            }
            + [
                Fault(number: 23, title: "Latin-1 in a value") { _ in
                    let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nA: caf".utf8)
                    return FaultScene.answering(
                        .raw(.bytes(head + [0xE9] + Array("\r\n\r\nok".utf8))), meant: "ok"
                    ).with {
                        $0.closesUnsaid = true
                        $0.check = { seen in
                            let value = seen.outcome?.response?.headers["A"]
                            return value == "caf\u{E9}" ? nil : "the value is \(value ?? "gone")"
                        }
                    }
                } expectation: {
                    FaultExpectation("success", in: $0)
                }
            ]

        private static let informationalHeads: [Fault] = [
            .answer(
                24, "100 and 103, then 200",
                .ok("ok").preceded(by: .head(100), .head(103, headers: ["Link": "</a>"]), .flush),
                meant: "ok"
            ) {
                FaultExpectation("success", in: $0)
            },
            .text(
                25, "200 000 × 103",
                .repeating(Array("HTTP/1.1 103 Early Hints\r\n\r\n".utf8), count: 200_000)
            ) {
                FaultExpectation("framing", in: $0).within(.milliseconds(500))
            },
            .text(26, "an unasked 101", "HTTP/1.1 101 Switching Protocols\r\n\r\n") {
                FaultExpectation("framing", in: $0)
            },
            .answer(26, "an unasked 304", .status(304, headers: ["ETag": "x"])) {
                FaultExpectation("304", in: $0)
            },
            .text(26, "204 with a body", "HTTP/1.1 204 No Content\r\n\r\nhello") {
                FaultExpectation("success", in: $0)
            },
        ]
    }
#endif
