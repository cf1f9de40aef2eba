// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoading
    import DataLoadingTesting
    import Foundation

    /// What client and server observed in a cell.
    struct FaultObservation: Sendable {
        var cell: FaultCell
        var heard: FaultDelegate.Heard
        /// The time from `perform` to the last call of the delegate.
        var time: Duration
        /// The requests that the server saw, without the one that opened the connection.
        var requests: [RecordedRequest]
        /// The number of requests, where the server records none.
        var requestCount: Int
        /// The connection of the request that opened it.
        var warmConnection: Int?
        /// Every text about the load, which must not contain a secret.
        var texts: [String]
        /// Whether the configured address is no longer the first choice.
        var isEjected: Bool

        /// The outcome of the load.
        var outcome: FaultDelegate.Outcome? { heard.terminals.first }

        /// "success" or the kind of the error.
        var kind: String {
            guard let outcome else { return "nothing" }
            if outcome.isSuccess { return FaultExpectation.success }
            return outcome.response?.error?.name ?? "cancelled"
        }

        var attempts: Int { outcome?.response?.metrics.attempts ?? 0 }

        /// The texts of an outcome that a log could contain.
        static func texts(of outcome: FaultDelegate.Outcome) -> [String] {
            guard let response = outcome.response else { return [] }
            var texts = [
                "\(response)", "\(response.request)", "\(response.metrics)",
                String(reflecting: response.metrics),
            ]
            if let error = response.error {
                texts += [
                    "\(error)", String(reflecting: error), error.localizedDescription, error.name,
                ]
            }
            return texts
        }
    }

    /// A violated invariant.
    struct FaultViolation: Sendable {
        let invariant: Int
        let expected: String
        let seen: String
    }
#endif
