// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingAuth
    import DataLoading
    import DataLoadingTesting
    import Foundation

    extension FaultTable {
        /// Rows 32 and 34: a server with a wrong identity gets no byte and no second attempt.
        static let trustFaults: [Fault] =
            [
                ("a certificate that has expired", .expired),
                ("a certificate for another host", .wrongHost),
                ("a certificate signed by itself", .selfSigned),
                ("a certificate of an unknown authority", .strangeAuthority),
            ].map { (title: String, identity: TestIdentity.Kind) in
                Fault(number: 32, title: title, axes: .secureFirst) { _ in
                    FaultScene.answering(.ok()).with { $0.identity = identity }
                } expectation: {
                    FaultExpectation("certificate", in: $0).requesting(0)
                }
            }
            + [
                Fault(number: 32, title: "another key than the pinned one", axes: .secureFirst) {
                    _ in
                    FaultScene.answering(.ok()).with {
                        $0.pins = [TestIdentity.all?[.expired]?.pin ?? ""]
                    }
                } expectation: {
                    FaultExpectation("pin", in: $0).requesting(0)
                },
                Fault(number: 32, title: "… and the pinned one beside it", axes: .secureFirst) {
                    _ in
                    FaultScene.answering(.ok("fine"), meant: "fine").with {
                        $0.pins = [.expired, .good].compactMap { TestIdentity.all?[$0]?.pin }
                    }
                } expectation: {
                    FaultExpectation("success", in: $0)
                },
                Fault(
                    number: 34, title: "a fallback address with a wrong certificate",
                    axes: .secureFirst
                ) { _ in
                    let dead = try LoopbackServer { _ in .ok() }
                    dead.goDown()
                    return FaultScene.answering(.ok()).with {
                        $0.identity = .wrongHost
                        $0.addresses = ["127.0.0.1:\(dead.port)", "127.0.0.1:PORT"]
                        $0.finish = { dead.stop() }
                    }
                } expectation: {
                    FaultExpectation("certificate", in: $0).requesting(0)
                },
            ]

        /// Row 33: a failed handshake.
        static let handshakeFaults: [Fault] =
            [
                Fault(number: 33, title: "TLS to a plain port", axes: .secureFirst) { _ in
                    let answer = LoopbackStep.bytes("HTTP/1.1 400 Bad Request\r\n\r\n")
                    return FaultScene(script: .steps(answer, .flush, .close)).with {
                        $0.serverIsSecure = false
                    }
                } expectation: {
                    FaultExpectation("tls", retried: .always, in: $0).requesting(0)
                },
                Fault(number: 33, title: "… which waits for a line", axes: .secureFirst) { _ in
                    FaultScene.answering(.ok()).with {
                        $0.serverIsSecure = false
                        $0.timeouts.connect = .milliseconds(250)
                    }
                } expectation: {
                    FaultExpectation("connect_timeout", retried: .always, in: $0).requesting(0)
                },
                // The request is sent before the server closes without reading it.
                Fault(number: 33, title: "plain to a port of TLS", axes: .plainFirst) { _ in
                    FaultScene.answering(.ok()).with { $0.serverIsSecure = true }
                } expectation: {
                    FaultExpectation("no_response", retried: .idempotent, in: $0).requesting(0)
                },
            ]
            + [
                ("1 byte", .bytes(1)), ("5 bytes", .bytes(5)), ("a half", .half),
                ("all but 1 byte", .allButOne),
            ].flatMap { (title: String, cut: LoopbackTLS.Behaviour.Cut) in
                [false, true].map { resets in
                    Fault(
                        number: 33,
                        title: "a handshake \(resets ? "reset" : "closed") after \(title)",
                        axes: .secureFirst
                    ) { _ in
                        FaultScene.answering(.ok()).with {
                            $0.tls.cut = cut
                            $0.tls.resets = resets
                        }
                    } expectation: {
                        FaultExpectation("tls", retried: .always, in: $0).requesting(0)
                    }
                }
            }
    }
#endif
