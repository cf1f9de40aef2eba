// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoading
    import DataLoadingTesting

    /// One row of the matrix, or one variant of a row: what a peer does and what must come of it.
    struct Fault: Sendable {
        /// The row's number.
        let number: Int
        let title: String
        var axes = FaultAxes.all
        /// How often each cell is run, where what happens is a matter of luck.
        var rounds = 1
        /// What stands at the other end in a cell.
        let scene: @Sendable (FaultCell) throws -> FaultScene
        let expectation: @Sendable (FaultCell) -> FaultExpectation
    }

    extension Fault {
        /// A fault that is one answer, whatever the cell.
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

        /// A fault that is one text, after which the connection is closed.
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

    /// What must come of a cell.
    struct FaultExpectation: Sendable {
        /// When a load may be tried again, in words of the table.
        enum Retry {
            case never
            /// GET, and not POST.
            case idempotent
            /// GET in whole mode, where nothing was handed over yet.
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

        /// "success", or the kind of the error; several where the system decides.
        var kinds: Set<String>
        var attempts: ClosedRange<Int>
        /// How many requests the server sees, the one that opened the connection left out.
        var requests: ClosedRange<Int>
        /// The time that it may take; nil for the deadline alone.
        var within: Duration?

        /// One request an attempt, and one retry where there is any.
        init(_ kinds: String..., retried: Retry = .never, in cell: FaultCell) {
            self.kinds = Set(kinds)
            let count = retried.applies(in: cell) ? 2 : 1
            attempts = count...count
            requests = attempts
        }

        /// An end that counts as a stale connection where the connection was used before.
        ///
        /// What may be sent twice then has another attempt, which is no retry, and what may not has
        /// none. Not after a whole line of the response.
        static func staleable(_ kind: String, in cell: FaultCell) -> FaultExpectation {
            guard cell.isReused else {
                return FaultExpectation(kind, retried: .idempotent, in: cell)
            }
            return cell.isPost
                ? FaultExpectation("connection_reset", in: cell)
                : FaultExpectation(kind, retried: .idempotent, in: cell).replacing(1)
        }

        /// The same with so many attempts more, in place of others.
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
