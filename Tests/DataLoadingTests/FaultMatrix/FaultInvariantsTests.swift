// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    /// The matrix detects violations: each invariant is broken once.
    @Suite struct FaultInvariantsTests {
        private let scene = FaultScene.answering(.ok("12345"), meant: "12345")
        private let cell = FaultCell(mode: .whole, method: .get, scheme: .http, connection: .first)

        private func broken(
            _ change: (inout FaultObservation, inout DataLoaderResponse) -> Void
        ) -> Set<Int> {
            var metrics = LoadMetrics()
            metrics.attempts = 1
            var response = DataLoaderResponse(
                request: .make(), statusCode: .ok, body: Data("12345".utf8), metrics: metrics)
            var seen = FaultObservation(
                cell: cell, heard: FaultDelegate.Heard(), time: .milliseconds(5), requests: [],
                requestCount: 1, texts: ["a line"], isEjected: false)
            change(&seen, &response)
            if seen.heard.terminals.isEmpty {
                seen.heard.terminals = [
                    FaultDelegate.Outcome(
                        response: response, isSuccess: response.error == nil, at: .now)
                ]
            }
            let invariants = FaultInvariants(
                scene: scene, expectation: FaultExpectation("success", in: cell), seen: seen)
            return Set(invariants.violations.map(\.invariant))
        }

        @Test func `a correct observation violates no invariant of the fault matrix`() {
            #expect(broken { _, _ in } == [])
        }

        @Test
        func `a second outcome and a call after the outcome violate the one-outcome invariant`() {
            #expect(
                broken { seen, response in
                    let end = FaultDelegate.Outcome(response: response, isSuccess: true, at: .now)
                    seen.heard.terminals = [end, end]
                } == [1])
            #expect(broken { seen, _ in seen.heard.lateCalls = 1 } == [1])
        }

        @Test func `an outcome after the deadline violates the deadline invariant`() {
            let late = scene.deadline + FaultInvariants.grace + .milliseconds(1)
            #expect(broken { seen, _ in seen.time = late } == [2])
        }

        @Test func `an unexpected error violates the error invariant`() {
            #expect(broken { _, response in response.error = .dns } == [3])
        }

        @Test func `a surplus attempt or request violates the attempts invariant`() {
            #expect(broken { _, response in response.metrics.attempts = 2 } == [4])
            #expect(broken { seen, _ in seen.requestCount = 2 } == [4])
        }

        @Test func `wrong, missing or surplus bytes violate the body invariant`() {
            for body in ["12346", "1234", "123456"] {
                #expect(broken { _, response in response.body = Data(body.utf8) } == [5])
            }
        }

        @Test func `a secret in a text violates the secrecy invariant`() {
            #expect(broken { seen, _ in seen.texts.append("?\(FaultSecret.query)") } == [8])
        }

        @Test func `a body of zeros is distinguished from other bytes`() {
            let meant = MeantBody.zeros(10)
            #expect(meant.has(Data(count: 4), at: 6))
            #expect(!meant.has(Data(count: 5), at: 6))
            for place in 0..<4 {
                var bytes = Data(count: 4)
                bytes[place] = 1
                #expect(!meant.has(bytes, at: 0))
            }
        }
    }
#endif
