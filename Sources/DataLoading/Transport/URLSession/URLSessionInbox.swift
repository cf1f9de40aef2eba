// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin) || URLSession
    import Foundation

    /// What waits for a sink, in order and bounded; its owner's lock guards it.
    struct URLSessionInbox {
        enum Outcome: Sendable {
            case end(TransportEnd)
            case failure(TransportFailure)
        }

        enum Event: Sendable {
            case sent(Int64, of: Int64?)
            case informational(ResponseHead)
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

        /// Takes bytes; false when there would be more of them than the window holds.
        mutating func append(_ data: Data, window: Int) -> Bool {
            guard data.count <= window - bytes.count else { return false }
            if bytes.isEmpty { bytes = data } else { bytes.append(data) }
            return true
        }

        /// Only the last count matters.
        mutating func noteSent(_ count: Int64, of total: Int64?) {
            sent = (count, total)
        }

        /// Whether an end waits behind bytes or for `resume`.
        var holdsEnd: Bool { outcome != nil && !endsAtOnce }

        /// Puts the end after what waits, or in its place.
        mutating func end(_ outcome: Outcome, atOnce: Bool) {
            self.outcome = outcome
            endsAtOnce = atOnce
            guard atOnce else { return }
            bytes = Data()
            sent = nil
            // A head that came is heard: it tells how far the attempt got.
        }

        /// Whether the caller is to start handing on; nobody does so yet, and there is something.
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

        /// The next event; after nil, handing on has to be started again.
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
#endif
