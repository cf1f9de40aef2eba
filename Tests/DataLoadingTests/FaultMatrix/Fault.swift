// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoading
    import DataLoadingTesting

    /// One row of the matrix or one variant of a row: what a server does and the expected result.
    struct Fault: Sendable {
        /// The row's number.
        let number: Int
        let title: String
        var axes = FaultAxes.all
        /// How often each cell runs, where the result depends on timing.
        var rounds = 1
        /// The server of a cell.
        let scene: @Sendable (FaultCell) throws -> FaultScene
        let expectation: @Sendable (FaultCell) -> FaultExpectation
    }

    extension Fault {
        /// A fault that is one response in every cell.
        static func answer(
            _ number: Int, _ title: String, _ response: LoopbackResponse, meant: String = "",
            axes: FaultAxes = .all,
            _ expectation: @escaping @Sendable (FaultCell) -> FaultExpectation
        ) -> Fault {
            Fault(number: number, title: title, axes: axes) { _ in
                FaultScene.answering(response, meant: meant)
            } expectation: {
                expectation($0)
            }
        }

        /// A fault that is one text, after which the server closes the connection.
        static func text(
            _ number: Int, _ title: String, _ text: LoopbackPayload, meant: String = "",
            axes: FaultAxes = .all,
            _ expectation: @escaping @Sendable (FaultCell) -> FaultExpectation
        ) -> Fault {
            Fault(number: number, title: title, axes: axes) { _ in
                FaultScene.answering(.raw(text), meant: meant).with { $0.closesUnsaid = true }
            } expectation: {
                expectation($0)
            }
        }
    }

    /// The expected result of a cell.
    struct FaultExpectation: Sendable {
        /// When a load may be retried.
        enum Retry {
            case never
            /// GET but not POST.
            case idempotent
            /// GET in whole mode, where nothing was delivered yet.
            case whole
            case always

            func applies(in cell: FaultCell) -> Bool {
                switch self {
                case .never: false
                case .idempotent: !cell.isPost
                case .whole: !cell.isPost && cell.isWhole
                case .always: true
                }
            }
        }

        static let success = "success"

        /// "success" or the kind of the error; several where the system decides.
        var kinds: Set<String>
        var attempts: ClosedRange<Int>
        /// The number of requests that the server sees, without the one that opened the connection.
        var requests: ClosedRange<Int>
        /// The time limit; nil for the deadline.
        var within: Duration?

        /// One request for each attempt, and one retry where retries are allowed.
        init(_ kinds: String..., retried: Retry = .never, in cell: FaultCell) {
            self.kinds = Set(kinds)
            let count = retried.applies(in: cell) ? 2 : 1
            attempts = count...count
            requests = attempts
        }

        /// An end that counts as a stale connection if the connection was used before.
        ///
        /// A request that may be sent twice then gets another attempt, which is not a retry, and
        /// other requests do not. Not after a complete line of the response.
        static func staleable(_ kind: String, in cell: FaultCell) -> FaultExpectation {
            guard cell.isReused else {
                return FaultExpectation(kind, retried: .idempotent, in: cell)
            }
            return cell.isPost
                ? FaultExpectation("connection_reset", in: cell)
                : FaultExpectation(kind, retried: .idempotent, in: cell).replacing(1)
        }

        /// The same with this many more attempts in place of others.
        func replacing(_ count: Int) -> FaultExpectation {
            with { changed in
                changed.attempts =
                    (attempts.lowerBound + count)...(attempts.upperBound + count)
                changed.requests =
                    (requests.lowerBound + count)...(requests.upperBound + count)
            }
        }

        func requesting(_ count: Int) -> FaultExpectation {
            requesting(count...count)
        }

        func requesting(_ counts: ClosedRange<Int>) -> FaultExpectation {
            with { $0.requests = counts }
        }

        func attempting(_ count: Int) -> FaultExpectation {
            attempting(count...count)
        }

        func attempting(_ counts: ClosedRange<Int>) -> FaultExpectation {
            with { $0.attempts = counts }
        }

        func within(_ limit: Duration) -> FaultExpectation {
            with { $0.within = limit }
        }

        private func with(_ change: (inout FaultExpectation) -> Void) -> FaultExpectation {
            var changed = self
            change(&changed)
            return changed
        }
    }
#endif
