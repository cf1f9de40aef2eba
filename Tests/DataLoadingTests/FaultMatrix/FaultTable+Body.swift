// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingAuth
    import DataLoading
    import DataLoadingTesting
    import Foundation

    extension FaultTable {
        /// Rows 8, 9, 11, 12, 16, 17, 19: a body that ends early, late or never.
        static let bodyFaults: [Fault] = [
            // The pause lets the head arrive, which a reset could overtake.
            .answer(
                8, "RST inside the body",
                half.followed(by: .flush, .pause(.milliseconds(20)), .reset),
                meant: "1234567890"
            ) {
                FaultExpectation("connection_reset", retried: .whole, in: $0)
            },
            .answer(
                9, "shorter than Content-Length", half.followed(by: .close), meant: "1234567890"
            ) {
                FaultExpectation("truncated_body", retried: .whole, in: $0)
            },
            .answer(
                11, "chunked, without a last chunk",
                .steps(
                    .head(200, headers: ["Transfer-Encoding": "chunked"]), .chunks("12345"), .close),
                meant: "1234567890"
            ) {
                FaultExpectation("truncated_body", retried: .whole, in: $0)
            },
            .answer(
                12, "chunked, with trailers", .chunked(["12345", "67890"], trailers: ["X": "y"]),
                meant: "1234567890"
            ) {
                FaultExpectation("success", in: $0)
            },
            // A whole load refuses the declared length at once, because it exceeds the limit.
            .answer(
                16, "60 GB declared, 5 bytes sent",
                .truncated("12345", declaring: 60_000_000_000), meant: "1234567890"
            ) {
                $0.isWhole
                    ? FaultExpectation("body_too_large", in: $0)
                    : FaultExpectation("truncated_body", in: $0)
            },
            .answer(
                16, "as much declared as is allowed, 5 bytes sent",
                .truncated("12345", declaring: FaultRunner.bodyLimit), meant: "1234567890"
            ) {
                FaultExpectation("truncated_body", retried: .whole, in: $0)
            },
            Fault(number: 17, title: "TLS without close_notify", axes: .secureOnly) { _ in
                FaultScene.answering(.untilClose("12345"), meant: "1234567890").with {
                    $0.tls.endsSilently = true
                }
            } expectation: {
                FaultExpectation("truncated_body", retried: .whole, in: $0)
            },
            .answer(17, "… and with it", .untilClose("12345"), meant: "12345", axes: .secureOnly) {
                FaultExpectation("success", in: $0)
            },
            Fault(number: 19, title: "slow-loris body") { _ in
                slowly(.repeating([0x61], count: 1_000), every: .milliseconds(50)).with {
                    $0.meant = .bytes(Data(repeating: 0x61, count: 1_000))
                    $0.timeouts.idle = .milliseconds(400)
                    $0.deadline = .milliseconds(600)
                }
            } expectation: {
                FaultExpectation("timed_out", in: $0)
            },
            Fault(number: 19, title: "… which comes to its end") { _ in
                slowly("1234567890", every: .milliseconds(50)).with {
                    $0.meant = .bytes(Data("1234567890".utf8))
                    $0.timeouts.idle = .milliseconds(400)
                }
            } expectation: {
                FaultExpectation("success", in: $0)
            },
            Fault(number: 20, title: "stall inside the body") { _ in
                FaultScene.answering(half.followed(by: .flush, .stall), meant: "1234567890")
                    .impatient()
            } expectation: {
                FaultExpectation("idle_timeout", retried: .whole, in: $0)
            },
        ]

        /// Five of ten declared bytes.
        private static let half = LoopbackResponse.status(
            200, headers: ["Content-Length": "10"], body: "12345")

        private static func slowly(
            _ payload: LoopbackPayload, every interval: Duration
        ) -> FaultScene {
            .answering(
                .steps(
                    .head(200, headers: ["Content-Length": "\(payload.count)"]),
                    .drip(payload, every: interval)))
        }
    }
#endif
