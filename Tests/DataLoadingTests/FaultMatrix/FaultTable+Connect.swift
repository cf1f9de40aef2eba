// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingAuth
    @testable import DataLoadingCurl
    @testable import DataLoading
    import DataLoadingTesting
    import Dispatch
    import Foundation

    extension FaultTable {
        /// Rows 1 to 5: no connection, or one that the server closes at once.
        static let connectFaults = [
            Fault(number: 1, title: "a name without an address", axes: .firstOnly) { _ in
                FaultScene.answering(.ok()).with { $0.lookup = { _ in .unknown } }
            } expectation: {
                FaultExpectation("dns", retried: .always, in: $0).requesting(0)
            },
            Fault(number: 2, title: "a resolver that is silent", axes: .firstOnly) { _ in
                let silence = DispatchSemaphore(value: 0)
                return FaultScene.answering(.ok()).with {
                    $0.timeouts.connect = .milliseconds(150)
                    $0.lookup = { _ in
                        silence.wait()
                        return .unknown
                    }
                    $0.finish = { for _ in 0..<4 { silence.signal() } }
                }
            } expectation: {
                FaultExpectation("dns", retried: .always, in: $0).requesting(0)
            },
            Fault(number: 3, title: "a refused connection") { _ in
                FaultScene.answering(.ok()).with {
                    $0.addresses = ["127.0.0.1:PORT"]
                    $0.prepare = { $0.goDown() }
                }
            } expectation: {
                FaultExpectation("connect_refused", retried: .always, in: $0).requesting(0)
            },
            Fault(number: 3, title: "… at the first of two addresses", axes: .firstOnly) { _ in
                let dead = try LoopbackServer { _ in .ok() }
                dead.goDown()
                return besideGood(dead.port) { dead.stop() }
            } expectation: {
                FaultExpectation("success", in: $0)
            },
            Fault(number: 4, title: "a black hole", axes: .firstOnly) { _ in
                let hole = try LoopbackBlackHole()
                return FaultScene.answering(.ok()).with {
                    $0.port = hole.port
                    $0.timeouts.connect = .milliseconds(150)
                    $0.finish = { hole.close() }
                }
            } expectation: {
                FaultExpectation("connect_timeout", retried: .always, in: $0).requesting(0)
            },
            Fault(number: 4, title: "… at the first of two addresses", axes: .firstOnly) { _ in
                let hole = try LoopbackBlackHole()
                return besideGood(hole.port) { hole.close() }.with {
                    $0.timeouts.connect = .milliseconds(500)
                }
            } expectation: {
                FaultExpectation("success", in: $0)
            },
            .answer(5, "a close without a byte", .steps(.close)) {
                .staleable("no_response", in: $0)
            },
        ]

        /// A bad address, which must be ejected, followed by the server's address.
        private static func besideGood(
            _ port: UInt16, finish: @escaping @Sendable () -> Void
        ) -> FaultScene {
            FaultScene.answering(.ok("fine"), meant: "fine").with {
                $0.addresses = ["127.0.0.1:\(port)", "127.0.0.1:PORT"]
                $0.finish = finish
                $0.check = { $0.isEjected ? nil : "the bad address was not ejected" }
            }
        }
    }
#endif
