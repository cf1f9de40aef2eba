// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// One attempt with the transport, and the state of its response: a pure value.
struct Attempt: Sendable {
    /// The number of bytes of a discarded body that are read to keep the connection; after more,
    /// the attempt is cancelled.
    private static let maxDiscarded = 65_536
    /// The time for a discarded body to end, so that its connection can be kept; then the attempt is
    /// cancelled.
    static let longestDiscard = Duration.seconds(1)
    /// The maximum number of bytes that are reserved because a head announces them.
    ///
    /// Memory that nothing is written to is not taken from the machine.
    private static let maxReserved: Int64 = 4 << 20

    /// The result of taking a piece of a body.
    enum Intake: Sendable {
        case dropped
        /// The piece is held back until the verdict; the transfer must be paused.
        case pause
        case kept
        case handOn
        /// No more of the body is wanted; the transfer must be cancelled.
        case stop
    }

    /// Receives the transport's events of the attempt, and can cancel its transfer.
    let context: AttemptSink
    /// The final head, once it has arrived.
    private(set) var head: ResponseHead?
    /// The verdict on the response; nil until there is one.
    private(set) var verdict: Verdict?
    /// The body of a response that is delivered whole.
    private(set) var body = Data()
    /// Whether the body is handed on while it arrives; otherwise it is kept.
    private(set) var isStreaming = false
    /// The length of the whole body; nil when it is unknown or not needed.
    private(set) var length: Int64?
    /// Whether the server sent more than the range that it announced.
    private(set) var isBeyondRange = false
    /// Whether the body is larger than the limit; a body that is kept is dropped then.
    private(set) var isTooLarge = false
    /// A copy of a body that is handed on, for the cache; nil when none is kept.
    private(set) var copy: Data?
    private var discarded = 0
    /// The end of the time for a discarded body; nil while there is none.
    var discardTimer: TimerQueue.Entry?
    /// Whether there is room in the body for more than its first piece.
    private var hasRoom = false
    /// The events that came before the verdict of user code; nil when none are held back.
    private var held: HeldEvents?

    init(_ context: AttemptSink) {
        self.context = context
    }

    mutating func receive(_ head: ResponseHead, holdingBack: Bool) {
        self.head = head
        if holdingBack { held = HeldEvents() }
    }

    /// Notes that the response is the load's response.
    mutating func deliver(
        isStreaming: Bool, length: Int64?, limit: Int64, because reason: DataLoaderError.StopReason?
    ) {
        verdict = .deliver(reason)
        self.isStreaming = isStreaming
        self.length = length
        isTooLarge = isStreaming && length ?? 0 > limit
    }

    /// Begins a copy of the body.
    mutating func beginCopy() {
        copy = Data()
    }

    /// Adds to the copy, and gives it up past its limit.
    mutating func keepCopy(_ bytes: Data, _ facts: LoadFacts) {
        guard copy != nil else { return }
        copy?.append(bytes)
        if let count = copy?.count, count > facts.traits.keepLimit { copy = nil }
    }

    /// Notes that the response is the rest of the load's response.
    mutating func append(_ range: ContentRange, isStreaming: Bool, to partial: Data) {
        verdict = .append(range)
        self.isStreaming = isStreaming
        length = range.length
        body = partial
    }

    /// Notes that the response is not the load's response.
    mutating func leaveOut(_ verdict: Verdict) {
        self.verdict = verdict
    }

    /// Takes a piece of the body; `received` is the length of the whole body up to its end.
    mutating func receive(
        _ bytes: Data, received: Int64, _ traits: LoadTraits, wasHeld: Bool = false
    ) -> Intake {
        if !wasHeld, held != nil {
            held?.append(bytes)
            return held?.isFull == true ? .pause : .dropped
        }
        if case .append(let range) = verdict, received > range.last + 1 { isBeyondRange = true }
        switch verdict {
        case .deliver where isStreaming, .append where isStreaming:
            if received > traits.streamLimit { isTooLarge = true }
            return isRefused ? .stop : .handOn
        case .deliver, .append:
            keep(bytes, traits.bodyLimit)
            return isRefused ? .stop : .kept
        case .hold:
            keep(bytes, traits.bodyLimit)
            return isRefused ? .stop : .dropped
        case nil, .discard:
            discarded = min(discarded, Self.maxDiscarded) + bytes.count
            return discarded > Self.maxDiscarded ? .stop : .dropped
        }
    }

    /// Whether the body is larger than its limit or its range.
    var isRefused: Bool { isTooLarge || isBeyondRange }

    /// Keeps a piece of a body, without a copy of the first one, and nothing past the limit.
    private mutating func keep(_ bytes: Data, _ limit: Int64) {
        // A transport has the limit too; this check is for a transport that does not keep to it.
        guard !isBeyondRange else { return }
        guard !isTooLarge, Int64(body.count) + Int64(bytes.count) <= limit else {
            isTooLarge = true
            body = Data()
            return
        }
        guard !body.isEmpty else { return body = bytes }
        makeRoom(limit)
        body.append(bytes)
    }

    /// Moves the first piece to memory for the whole body, so that the others are copied once.
    private mutating func makeRoom(_ limit: Int64) {
        guard !hasRoom else { return }
        hasRoom = true
        let length = min(head?.bodyLength ?? 0, limit, Self.maxReserved)
        guard length > body.count else { return }
        var whole = Data(capacity: Int(clamping: length))
        whole.append(body)
        body = whole
    }

    /// Holds back the end of the attempt while events are held back; false when none are.
    mutating func holdBack(_ failure: TransportFailure?) -> Bool {
        guard held != nil else { return false }
        held?.end(with: failure)
        return true
    }

    /// Whether the transfer is paused until the verdict.
    var isHeldBack: Bool { held?.isFull == true }

    /// Whether events are held back.
    var holdsBack: Bool { held != nil }

    /// Whether the end is held back.
    var holdsEnd: Bool { held?.hasEnd == true }

    /// Takes the next event that was held back; after the last one nothing is held back any more.
    mutating func takeHeld() -> HeldEvents.Event? {
        let event = held?.next()
        if case .bytes = event { return event }
        held = nil
        return event
    }
}
