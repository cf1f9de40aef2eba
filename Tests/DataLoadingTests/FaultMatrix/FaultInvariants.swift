// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingTransport
    import DataLoading
    import DataLoadingTesting
    import Foundation

    /// The invariants I1 to I5 and I8 of one cell, as listed at `FaultMatrix`.
    ///
    /// I6 and I7 belong to the process; see `FaultBaseline`.
    struct FaultInvariants {
        /// How much later than its deadline a load may end.
        static let grace = Duration.milliseconds(250) * patience

        let scene: FaultScene
        let expectation: FaultExpectation
        let seen: FaultObservation

        var violations: [FaultViolation] {
            [ending, time, kind, attempts, requests, wire, bytes, secrecy, check].compactMap { $0 }
        }

        /// I1: exactly one last call, and no call after it.
        private var ending: FaultViolation? {
            let heard = seen.heard
            guard heard.terminals.count != 1 || heard.lateCalls > 0 else { return nil }
            return FaultViolation(
                invariant: 1, expected: "one end",
                seen: "\(heard.terminals.count) ends, \(heard.lateCalls) calls after the first")
        }

        /// I2: the load ends by its deadline or shortly after it.
        private var time: FaultViolation? {
            let within = expectation.within.map { $0 * patience }
            let limit = min(scene.deadline + Self.grace, within ?? .seconds(1_000))
            guard seen.time > limit else { return nil }
            return FaultViolation(invariant: 2, expected: "within \(limit)", seen: "\(seen.time)")
        }

        /// I3: the error is the one in the table.
        private var kind: FaultViolation? {
            guard !expectation.kinds.contains(seen.kind) else { return nil }
            let error = seen.outcome?.response?.error.map { " (\($0))" } ?? ""
            return FaultViolation(
                invariant: 3, expected: expectation.kinds.sorted().joined(separator: " or "),
                seen: seen.kind + error)
        }

        /// I4: the number of attempts is the one in the table.
        private var attempts: FaultViolation? {
            guard !expectation.attempts.contains(seen.attempts) else { return nil }
            return FaultViolation(
                invariant: 4, expected: "\(expectation.attempts) attempts",
                seen: "\(seen.attempts)")
        }

        /// I4: the number of requests is the one in the table.
        private var requests: FaultViolation? {
            guard !expectation.requests.contains(seen.requestCount) else { return nil }
            return FaultViolation(
                invariant: 4, expected: "\(expectation.requests) requests",
                seen: "\(seen.requestCount)")
        }

        /// I4: each request is complete, the first one on the connection of the cell.
        private var wire: FaultViolation? {
            for request in seen.requests
            where request.isComplete && request.method == .post && request.body != scene.body {
                return FaultViolation(
                    invariant: 4, expected: "a body of \(scene.body.count) bytes",
                    seen: "\(request.bodyLength) bytes")
            }
            if seen.cell.isReused, !scene.mayReconnect, let first = seen.requests.first,
                first.connection != seen.warmConnection
            {
                return FaultViolation(
                    invariant: 4, expected: "a reused connection", seen: "another one")
            }
            return nil
        }

        /// I5: the delivered bytes begin the expected body, and a success has all of it.
        private var bytes: FaultViolation? {
            var count = seen.heard.bytes
            var isPrefix = seen.heard.isPrefix
            if seen.cell.isWhole, let body = seen.outcome?.response?.body {
                isPrefix = isPrefix && scene.meant.has(body, at: 0)
                count += Int64(body.count)
            }
            let isComplete = seen.outcome?.isSuccess != true || count == scene.meant.count
            guard !isPrefix || !isComplete else { return nil }
            return FaultViolation(
                invariant: 5, expected: "a prefix of \(scene.meant.count) bytes, all in a success",
                seen: "\(count) bytes, \(isPrefix ? "incomplete" : "others")")
        }

        /// I8: no text contains a secret.
        private var secrecy: FaultViolation? {
            guard let text = seen.texts.first(where: { $0.contains(FaultSecret.word) }) else {
                return nil
            }
            return FaultViolation(invariant: 8, expected: "no secret", seen: text)
        }

        /// Additional conditions of a fault about the wire, as part of I4.
        private var check: FaultViolation? {
            scene.check(seen).map {
                FaultViolation(invariant: 4, expected: "no complaint", seen: $0)
            }
        }
    }
#endif
