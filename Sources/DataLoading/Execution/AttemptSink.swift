// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// What a transport tells about one attempt, with what belongs to the attempt whatever becomes of
/// its load: the turn, the slot of its origin, the address it was sent to.
final class AttemptSink: TransportSink {
    private let exchange: Exchange
    private let isOver = Atomic(false)
    let turn: Int
    let origin: Origin
    let candidate: HostResolver.Candidate
    let begun: Instant

    init(exchange: Exchange, turn: Int, origin: Origin, candidate: HostResolver.Candidate) {
        begun = exchange.runtime.agenda.now
        self.exchange = exchange
        self.turn = turn
        self.origin = origin
        self.candidate = candidate
    }

    func didSend(_ bodyBytes: Int64, of total: Int64?) {
        exchange.sent(BodyProgress(completed: bodyBytes, total: total), turn: turn)
    }

    func didReceiveInformational(_ head: ResponseHead) {}

    func didReceive(_ head: ResponseHead) {
        exchange.runtime.outages.end(origin)
        exchange.received(head, from: self)
    }

    func didReceive(_ bytes: Data) {
        exchange.received(bytes, turn: turn)
    }

    func didEnd(_ end: TransportEnd) {
        guard isFirstEnd() else { return }
        exchange.attemptEnded(self, report: end.report, failure: nil)
    }

    func didFail(_ failure: TransportFailure) {
        guard isFirstEnd() else { return }
        exchange.attemptEnded(self, report: failure.report, failure: failure)
    }

    /// A transport may be anybody's: the second end of one attempt would count for another.
    private func isFirstEnd() -> Bool {
        !isOver.exchange(true, ordering: .relaxed)
    }
}
