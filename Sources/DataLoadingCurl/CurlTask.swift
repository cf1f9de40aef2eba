// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import Synchronization

/// One attempt as both sides see it: the caller as a `TransportTask`, the loop by its flags.
///
/// The loop reads the flags in the middle of a transfer, so that a pause or cancel inside a
/// sink's callback takes effect before the next byte. The mailbox only carries what needs an
/// action.
final class CurlTask: TransportTask {
    let request: TransportRequest
    let sink: any TransportSink
    let mailbox: LoopMailbox
    let start: Int64
    /// The seat of its origin, where there are several loops.
    private let seat: OriginSeat?
    /// Whether the attempt is cancelled, and whether its request may have been sent.
    private let flags = Atomic<UInt8>(0)
    private let paused = Atomic<Bool>(false)
    private static let cancelled: UInt8 = 1
    private static let sending: UInt8 = 2

    init(
        request: TransportRequest, sink: any TransportSink, mailbox: LoopMailbox,
        seat: OriginSeat? = nil
    ) {
        self.request = request
        self.sink = sink
        self.mailbox = mailbox
        self.seat = seat
        start = LoopClock.now
    }

    deinit {
        seat?.noteUse(LoopClock.now)
    }

    var isCancelled: Bool { flags.load(ordering: .acquiring) & Self.cancelled != 0 }
    var isPaused: Bool { paused.load(ordering: .acquiring) }

    var mayHaveSent: Bool { flags.load(ordering: .acquiring) & Self.sending != 0 }

    /// Notes that the request is about to be written; false when the attempt was cancelled
    /// before.
    ///
    /// A caller that cancels and is then told that nothing was sent can rely on it: the sending
    /// flag is never set after the cancelled one.
    func beginSending() -> Bool {
        var current = flags.load(ordering: .acquiring)
        while current & Self.cancelled == 0 {
            let (isSet, found) = flags.weakCompareExchange(
                expected: current, desired: current | Self.sending,
                ordering: .acquiringAndReleasing)
            if isSet { return true }
            current = found
        }
        return false
    }

    func cancel() {
        let before = flags.bitwiseOr(Self.cancelled, ordering: .acquiringAndReleasing).oldValue
        guard before & Self.cancelled == 0 else { return }
        mailbox.post(.cancel(self))
    }

    func pause() {
        paused.store(true, ordering: .releasing)
    }

    func resume() {
        guard paused.exchange(false, ordering: .acquiringAndReleasing) else { return }
        mailbox.post(.resume(self))
    }
}
