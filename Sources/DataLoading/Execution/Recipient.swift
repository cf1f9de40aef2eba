// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation

/// Who hears of a load: a delegate, an awaiting task, a reader of chunks.
///
/// Calls come in order and under no lock. Whoever hands the outcome over calls `takeOutcome` at that
/// moment, and `outcomeWasHandedOver` after it, so that a cancellation is never overtaken.
protocol Recipient: AnyObject, Sendable {
    /// Where the load's questions are answered.
    var queue: DispatchQueue { get }
    /// How the body is handed over.
    var delivery: Delivery { get }
    /// Where the request wants the body of a success to go.
    var sink: ResponseSink? { get }

    /// Whether chunks may come; answered on `queue`, never inline.
    func askForChunkSupport(
        _ exchange: Exchange, _ answer: @escaping @Sendable (Bool) -> Void)
    /// A new stream for a body that can be read once; answered on `queue`, never inline.
    func askForBodyStream(
        _ exchange: Exchange, _ answer: @escaping @Sendable (OneShotStream?) -> Void)
    /// The load has no connection, and waits for one.
    func isWaitingForConnectivity(_ exchange: Exchange)

    /// The head of a response whose chunks follow.
    func didReceiveInitial(_ response: DataLoaderResponse, from exchange: Exchange)
    /// Body bytes; true when as much is held as may be, until `Exchange.windowHasOpened`.
    func didReceive(_ chunk: Data, from exchange: Exchange) -> Bool
    /// Whether as much is held as may be.
    var isFull: Bool { get }
    /// The load was cancelled: neither what is held nor what comes late is delivered any more.
    func dropPending()
    /// The outcome is decided, and can be taken.
    func outcomeIsReady(_ exchange: Exchange)
}

/// How a body is handed over, and so what can still follow an attempt that breaks.
enum Delivery: Sendable {
    /// With the outcome.
    case whole
    /// The head and then the body, piece by piece: neither can be taken back.
    case chunks
    /// Piece by piece, without the head.
    case pieces
    /// Piece by piece, and from the start again if need be.
    case restartable
}

/// A recipient that stands before another, and leaves the load's questions to it.
protocol RecipientBefore: Recipient {
    var base: any Recipient { get }
}

extension RecipientBefore {
    var queue: DispatchQueue { base.queue }

    func askForChunkSupport(
        _ exchange: Exchange, _ answer: @escaping @Sendable (Bool) -> Void
    ) {
        base.askForChunkSupport(exchange, answer)
    }

    func askForBodyStream(
        _ exchange: Exchange, _ answer: @escaping @Sendable (OneShotStream?) -> Void
    ) {
        base.askForBodyStream(exchange, answer)
    }

    func isWaitingForConnectivity(_ exchange: Exchange) {
        base.isWaitingForConnectivity(exchange)
    }
}

/// What suits a recipient of whole responses that has nobody to ask.
extension Recipient {
    var delivery: Delivery { .whole }

    var sink: ResponseSink? { nil }

    func askForChunkSupport(
        _ exchange: Exchange, _ answer: @escaping @Sendable (Bool) -> Void
    ) {
        queue.async { answer(false) }
    }

    func askForBodyStream(
        _ exchange: Exchange, _ answer: @escaping @Sendable (OneShotStream?) -> Void
    ) {
        queue.async { answer(nil) }
    }

    func isWaitingForConnectivity(_ exchange: Exchange) {}

    func didReceiveInitial(_ response: DataLoaderResponse, from exchange: Exchange) {}

    func didReceive(_ chunk: Data, from exchange: Exchange) -> Bool { false }

    var isFull: Bool { false }

    func dropPending() {}
}
