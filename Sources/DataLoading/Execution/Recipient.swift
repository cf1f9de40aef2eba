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
    func askForChunkSupport(_ answer: @escaping @Sendable (Bool) -> Void)
    /// A new stream for a body that can be read once; answered on `queue`, never inline.
    func askForBodyStream(
        _ request: DataLoaderRequest, _ answer: @escaping @Sendable (OneShotStream?) -> Void)
    /// The load has no connection, and waits for one.
    func isWaitingForConnectivity(_ request: DataLoaderRequest)

    /// The head of a response whose chunks follow.
    func didReceiveInitial(_ response: DataLoaderResponse, from exchange: Exchange)
    /// Body bytes; true when as much is held as may be, until `Exchange.windowHasOpened`.
    func didReceive(_ chunk: Data, from exchange: Exchange) -> Bool
    /// The load was cancelled: what is held is not delivered any more.
    func dropPending()
    /// The outcome is decided, and can be taken.
    func outcomeIsReady(_ exchange: Exchange)
}

extension Recipient {
    func askForBodyStream(
        _ request: DataLoaderRequest, _ answer: @escaping @Sendable (OneShotStream?) -> Void
    ) {
        queue.async { answer(nil) }
    }

    func isWaitingForConnectivity(_ request: DataLoaderRequest) {}
}
