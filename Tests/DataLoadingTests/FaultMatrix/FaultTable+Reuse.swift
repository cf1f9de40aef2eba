// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingAuth
    import DataLoading
    import DataLoadingTesting
    import Foundation

    extension FaultTable {
        /// Rows 35 to 37 and 39: connections that end during a request or between requests.
        static let reuseFaults: [Fault] = [
            stale("a stale connection, reset at its second use", .reset),
            stale("a stale connection, closed at its second use", .close),
            Fault(
                number: 36, title: "an idle connection closed while it is written to",
                axes: .reusedOnly, rounds: 125
            ) { _ in
                // The pause varies, so that some closes come before the request and some after.
                let pause = Duration.microseconds(Int.random(in: 0...3_000))
                let script = LoopbackScript.perConnection { number in
                    let end = [LoopbackStep.flush, .pause(pause), .close]
                    return .answers([
                        number == 0 ? LoopbackResponse(warm.steps + end) : warm
                    ])
                }
                return scene(script).with { $0.mayReconnect = true }
            } expectation: { cell in
                cell.isPost
                    ? FaultExpectation("success", "connection_reset", in: cell).requesting(0...1)
                    : FaultExpectation("success", in: cell).attempting(1...2)
            },
            Fault(
                number: 37, title: "a connection whose peer has gone silent", axes: .reusedOnly
            ) { _ in
                let script = LoopbackScript.perConnection { number in
                    .answers(number == 0 ? [warm, .steps(.stall)] : [warm])
                }
                return scene(script).impatient(.milliseconds(300))
            } expectation: { cell in
                cell.isPost
                    ? FaultExpectation("idle_timeout", in: cell)
                    : FaultExpectation("success", retried: .idempotent, in: cell)
            },
            Fault(
                number: 39, title: "413 and a reset while the body is sent",
                axes: FaultAxes(methods: [.post])
            ) { cell in
                // What has arrived is read although the connection is reset; TLS must be read
                // before the reset, so its server waits.
                let refusal = LoopbackResponse.status(
                    413, headers: ["Connection": "close"], body: "too much"
                ).followed(by: .flush, cell.isSecure ? .stall : .confirmed, .reset)
                let handler = LoopbackHandler(
                    early: { $0.path == FaultScene.warmPath ? nil : refusal },
                    otherwise: { _ in warm })
                return FaultScene(script: .serve(handler)).with {
                    $0.meant = .bytes(Data("too much".utf8))
                    $0.body = largeBody
                }
            } expectation: {
                FaultExpectation("413", in: $0)
            },
        ]

        private static let largeBody = Data(count: 8 << 20)
        private static let warm = LoopbackResponse.ok("warm")

        private static func scene(_ script: LoopbackScript) -> FaultScene {
            FaultScene(script: script).with { $0.meant = .bytes(Data("warm".utf8)) }
        }

        /// Only a repeatable request is sent again, in another attempt on a fresh connection.
        private static func stale(_ title: String, _ end: LoopbackStep) -> Fault {
            Fault(number: 35, title: title, axes: .reusedOnly) { _ in
                scene(.answers([warm, .steps(end)]))
            } expectation: { cell in
                cell.isPost
                    ? FaultExpectation("connection_reset", in: cell)
                    : FaultExpectation("success", in: cell).replacing(1)
            }
        }
    }
#endif
