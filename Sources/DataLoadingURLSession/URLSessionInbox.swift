// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport
import Foundation

/// The events that wait for a sink, in order and bounded; its owner's lock guards it.
struct URLSessionInbox {
    enum Outcome: Sendable {
        case end(TransportReport)
        case failure(TransportFailure)
    }

    enum Event: Sendable {
        case sent(Int64, of: Int64?)
        case head(ResponseHead)
        case bytes(Data)
        case outcome(Outcome)
    }

    /// Whether bytes and a regular end wait for `resume`.
    var isPaused = false
    private var heads: FIFO<Event> = FIFO()
    private var sent: (count: Int64, total: Int64?)?
    /// Pieces are joined: many small ones would take more memory than their bytes.
    private var bytes = Data()
    private var outcome: Outcome?
    private var endsAtOnce = false
    private var isDelivering = false

    /// Whether the sink is behind, or holds the attempt back.
    var isBusy: Bool { isPaused || !bytes.isEmpty }

    mutating func append(_ head: Event) {
        heads.append(head)
    }

    /// Appends bytes; false when they exceed the window.
    mutating func append(_ data: Data, window: Int) -> Bool {
        guard data.count <= window - bytes.count else { return false }
        if bytes.isEmpty { bytes = data } else { bytes.append(data) }
        return true
    }

    /// Only the last count is delivered.
    mutating func noteSent(_ count: Int64, of total: Int64?) {
        sent = (count, total)
    }

    /// Whether an end waits behind bytes or for `resume`.
    var holdsEnd: Bool { outcome != nil && !endsAtOnce }

    /// Appends the end after the waiting events, or replaces them with it.
    mutating func end(_ outcome: Outcome, atOnce: Bool) {
        self.outcome = outcome
        endsAtOnce = atOnce
        guard atOnce else { return }
        bytes = Data()
        sent = nil
        // A head that came is delivered: it tells how far the attempt got.
    }

    /// Returns whether the caller must start the delivery: none is running, and there is an
    /// event.
    mutating func startDelivery() -> Bool {
        guard !isDelivering, hasNext else { return false }
        isDelivering = true
        return true
    }

    private var hasNext: Bool {
        if !heads.isEmpty || sent != nil { return true }
        if isPaused, !endsAtOnce { return false }
        return !bytes.isEmpty || outcome != nil
    }

    /// Returns the next event; after nil, the delivery must be started again.
    mutating func next() -> Event? {
        guard hasNext else {
            isDelivering = false
            return nil
        }
        if let head = heads.popFirst() { return head }
        if let (count, total) = sent.take() { return .sent(count, of: total) }
        if !bytes.isEmpty {
            defer { bytes = Data() }
            return .bytes(bytes)
        }
        return outcome.take().map(Event.outcome)
    }
}
