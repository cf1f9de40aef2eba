// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Combine)
    import Combine
    import DataLoadingTransport
    import Foundation

    /// The pieces of one load and the demand for them: a pure value that says what comes next.
    struct DemandedChunks: Sendable {
        /// What the subscription does next.
        enum Step: Sendable {
            case give(Data)
            /// The load has its outcome, which must be taken although pieces are left.
            case take(Load)
            /// No piece is left: the load's outcome is taken, and completes the subscription.
            case finish(Load)
            /// No piece is left, and the outcome was taken before.
            case complete(DataLoaderError?)
            /// The load is cancelled, because enough of an error's body is there.
            case refuse(DataLoaderError)
            /// There is nothing to do until the load or the subscriber calls.
            case rest
        }

        /// A response that is no success, and its body as far as an error holds one.
        private struct Refusal: Sendable {
            static let maxBody = 65_536

            let head: DataLoaderResponse
            let status: HTTPStatus
            var body = Data()
            /// Whether the subscription was told to refuse.
            var isOver = false

            var isFull: Bool { body.count >= Self.maxBody }

            var error: DataLoaderError {
                keeping(DataLoaderError.status(status).ending(head.request, head.metrics))
            }

            /// The error with the body, if it is one of the status.
            func keeping(_ error: DataLoaderError) -> DataLoaderError {
                var error = error
                error.keepBody(body)
                return error
            }
        }

        /// The number of pieces that are wanted; nil without a limit.
        private var demand: Int? = 0
        private var window = ChunkWindow()
        private var refusal: Refusal?
        /// The load, from its head until its outcome is ready: then it needs no more room.
        private var source: Load?
        /// The load, from its outcome until that is taken.
        private var ended: Load?
        private var outcome: Result<Void, DataLoaderError>?

        /// Whether the transfer must be paused.
        var isFull: Bool { window.isFull }

        mutating func add(_ more: Subscribers.Demand) {
            guard let present = demand, let more = more.max else { return demand = nil }
            let (sum, isTooLarge) = present.addingReportingOverflow(more)
            demand = isTooLarge ? nil : sum
        }

        mutating func receive(_ head: DataLoaderResponse, from load: Load) {
            source = load
            guard let status = head.statusCode, !status.isSuccess else { return }
            refusal = Refusal(head: head, status: status)
        }

        /// Takes a piece; returns true when the transfer must be paused.
        mutating func receive(_ chunk: Data) -> Bool {
            guard let refusal else { return window.append(chunk) }
            self.refusal?.body += chunk.prefix(Refusal.maxBody - refusal.body.count)
            return false
        }

        mutating func outcomeIsReady(_ load: Load) {
            source = nil
            ended = load
        }

        /// Keeps the outcome of a load whose pieces are not all given.
        mutating func keep(_ error: DataLoaderError?) {
            outcome = error.map { .failure($0) } ?? .success(())
        }

        /// Notes that a piece was given; returns the load when its transfer may be resumed.
        mutating func gave(_ chunk: Data, _ more: Subscribers.Demand) -> Load? {
            add(more)
            return window.delivered(chunk.count) ? source : nil
        }

        /// Drops what was not given; the caller releases it outside the lock.
        mutating func close() -> some Sendable { window.close() }

        mutating func next() -> Step {
            if let refusal, refusal.isFull, !refusal.isOver, ended == nil {
                self.refusal?.isOver = true
                return .refuse(refusal.error)
            }
            if demand != 0, case .chunk(let data) = window.takeFirst() {
                demand = demand.map { $0 - 1 }
                return .give(data)
            }
            if let load = ended.take() { return window.isEmpty ? .finish(load) : .take(load) }
            guard window.isEmpty, let outcome = outcome.take() else { return .rest }
            guard case .failure(let error) = outcome else { return .complete(nil) }
            return .complete(error)
        }

        /// The error of an outcome, with the body of a response that is no success.
        func error(of response: DataLoaderResponse) -> DataLoaderError? {
            response.error.map { refusal?.keeping($0) ?? $0 }
        }
    }
#endif
