// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What a transport tells about one attempt, with the turn and the slot that belong to it.
final class AttemptSink: TransportSink {
    private let exchange: Exchange
    private let turn: Int
    private let origin: Origin

    init(exchange: Exchange, turn: Int, origin: Origin) {
        self.exchange = exchange
        self.turn = turn
        self.origin = origin
    }

    func didReceiveInformational(_ head: ResponseHead) {}

    func didReceive(_ head: ResponseHead) {
        exchange.received(head, turn: turn)
    }

    func didReceive(_ bytes: Data) {
        exchange.received(bytes, turn: turn)
    }

    func didEnd(_ end: TransportEnd) {
        exchange.attemptEnded(turn: turn, origin: origin, report: end.report, failure: nil)
    }

    func didFail(_ failure: TransportFailure) {
        exchange.attemptEnded(turn: turn, origin: origin, report: failure.report, failure: failure)
    }
}
