// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoading
    import DataLoadingTesting
    import Foundation

    /// What was seen of a cell, on both sides.
    struct FaultObservation: Sendable {
        var cell: FaultCell
        var heard: FaultDelegate.Heard
        /// The time from `perform` to the last call of the delegate.
        var time: Duration
        /// The requests that the server saw, the one that opened the connection left out.
        var requests: [RecordedRequest]
        /// How many there were, where the server keeps no records of them.
        var requestCount: Int
        /// The connection of the request that opened one.
        var warmConnection: Int?
        /// Everything that was written about the load, which must hold no secret.
        var texts: [String]
        /// Whether an address that was configured is no longer the first choice.
        var isEjected: Bool

        /// The outcome of the load.
        var outcome: FaultDelegate.Outcome? { heard.terminals.first }

        /// "success", or the kind of the error.
        var kind: String {
            guard let outcome else { return "nothing" }
            if outcome.isSuccess { return FaultExpectation.success }
            return outcome.response?.error?.kind ?? "cancelled"
        }

        var attempts: Int { outcome?.response?.metrics.attempts ?? 0 }

        /// The words of an outcome that might end up in a log.
        static func texts(of outcome: FaultDelegate.Outcome) -> [String] {
            guard let response = outcome.response else { return [] }
            var texts = [
                "\(response)", "\(response.request)", "\(response.metrics)",
                String(reflecting: response.metrics),
            ]
            if let error = response.error {
                texts += [
                    "\(error)", String(reflecting: error), error.localizedDescription, error.kind,
                ]
            }
            return texts
        }
    }

    /// An invariant that does not hold.
    struct FaultViolation: Sendable {
        let invariant: Int
        let expected: String
        let seen: String
    }
#endif
