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

/// What suits a recipient of whole responses that has nobody to ask.
extension Recipient {
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
