// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Dispatch
import Foundation

/// Delivers a load's events to a delegate, a task, a reader of chunks, a sink or a call.
///
/// The load calls it in order and under no lock. `Load.handOver` hands the outcome over.
protocol LoadEnd: AnyObject, Sendable {
    /// The queue on which the load's questions are answered.
    var queue: DispatchQueue { get }
    /// The way in which the body is handed over.
    var delivery: BodyDelivery { get }
    /// The sink that the request names for the body of a success.
    var sink: ResponseSink? { get }

    /// Whether the load is cancelled when its loader is dropped.
    var endsWithLoader: Bool { get }

    /// Asks whether chunks are accepted; answered on `queue`, never inline.
    func askForChunkSupport(_ load: Load, _ answer: @escaping @Sendable (Bool) -> Void)
    /// Asks the sink for what an earlier load has left; answered later, never inline.
    ///
    /// It is asked only for a request that `resumesFile`.
    func prepareSink(
        _ load: Load, _ answer: @escaping @Sendable (Result<StoredPart?, DataLoaderError>) -> Void)
    /// Asks for a new stream for a body that can be read once; answered on `queue`, never inline.
    func askForBodyStream(_ load: Load, _ answer: @escaping @Sendable (OneShotStream?) -> Void)
    /// Notifies that the load has no connection, and waits for one.
    func isWaitingForConnectivity(_ load: Load)

    /// Whether the load is reported to the observers.
    var isObserved: Bool { get }

    /// Whether the load is sent for several others, each of which has its own outcome.
    var isShared: Bool { get }

    /// The earliest and the latest deadline by which the outcome is wanted, in the distant future
    /// without one; several loads may wait for it.
    func deadlines(of load: Load) -> (earliest: Instant, latest: Instant)
    /// Notifies that the load waits in the queue for its slots.
    func isQueued(_ load: Load)
    /// Notifies that the turn of the load, which is in the queue, now comes after a wait.
    func waits(for wait: Duration, _ load: Load)

    /// The loader whose turn in the queue the load takes; nil for its own.
    var loader: LoadRegistry? { get }

    /// Whether `headArrived` is called.
    var wantsHeads: Bool { get }
    /// Notifies that the head of the load's response has arrived.
    func headArrived()
    /// Takes the head of a response whose body follows in pieces.
    func didReceiveInitial(_ response: DataLoaderResponse, from load: Load, by caller: Caller)
    /// Takes bytes of the body; returns true when the transfer must be paused until
    /// `.windowHasOpened`.
    func didReceive(_ bytes: Data, from load: Load, by caller: Caller) -> Bool
    /// Whether the transfer must be paused.
    var isFull: Bool { get }
    /// Drops the undelivered items and all that come later, because the load was ended from
    /// outside.
    func dropPending()
    /// Notifies that the outcome can be taken.
    func outcomeIsReady(_ load: Load, by caller: Caller)
}

/// The way in which a body is handed over; it limits the attempts that may follow one that breaks.
enum BodyDelivery: Sendable {
    /// With the outcome.
    case whole
    /// The head and then the body, piece by piece: neither can be taken back.
    case chunks
    /// Piece by piece, without the head.
    case pieces
    /// Piece by piece; it can be written from the start again.
    case restartable
}

/// The defaults, for an end for whole responses without a delegate.
extension LoadEnd {
    var delivery: BodyDelivery { .whole }

    var sink: ResponseSink? { nil }

    var endsWithLoader: Bool { true }

    var isObserved: Bool { true }

    var isShared: Bool { false }

    func deadlines(of load: Load) -> (earliest: Instant, latest: Instant) {
        let deadline = load.deadline ?? .distantFuture
        return (deadline, deadline)
    }

    func isQueued(_ load: Load) {}

    func waits(for wait: Duration, _ load: Load) {}

    var loader: LoadRegistry? { nil }

    var wantsHeads: Bool { false }

    func headArrived() {}

    func askForChunkSupport(_ load: Load, _ answer: @escaping @Sendable (Bool) -> Void) {
        queue.async { answer(false) }
    }

    func prepareSink(
        _ load: Load, _ answer: @escaping @Sendable (Result<StoredPart?, DataLoaderError>) -> Void
    ) {
        queue.async { answer(.success(nil)) }
    }

    func askForBodyStream(_ load: Load, _ answer: @escaping @Sendable (OneShotStream?) -> Void) {
        queue.async { answer(nil) }
    }

    func isWaitingForConnectivity(_ load: Load) {}

    func didReceiveInitial(_ response: DataLoaderResponse, from load: Load, by caller: Caller) {}

    func didReceive(_ bytes: Data, from load: Load, by caller: Caller) -> Bool { false }

    var isFull: Bool { false }

    func dropPending() {}
}

/// An end that forwards the load's questions to another end.
protocol ForwardingEnd: LoadEnd {
    var base: any LoadEnd { get }
}

extension ForwardingEnd {
    var queue: DispatchQueue { base.queue }

    var endsWithLoader: Bool { base.endsWithLoader }

    var isObserved: Bool { base.isObserved }

    func askForChunkSupport(_ load: Load, _ answer: @escaping @Sendable (Bool) -> Void) {
        base.askForChunkSupport(load, answer)
    }

    func askForBodyStream(_ load: Load, _ answer: @escaping @Sendable (OneShotStream?) -> Void) {
        base.askForBodyStream(load, answer)
    }

    func isWaitingForConnectivity(_ load: Load) {
        base.isWaitingForConnectivity(load)
    }
}
