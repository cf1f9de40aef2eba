// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What a transport told of an attempt while users' code was asked what becomes of its response.
struct HeldEvents: Sendable {
    /// The next thing to take.
    enum Event: Sendable {
        case bytes(Data)
        case end(TransportFailure?)
    }

    /// Who the transport tells.
    let sink: AttemptSink
    private var pieces = FIFO<Data>()
    private var count = 0
    private var end: TransportFailure??

    /// Whether the transfer is to be paused: as much is held as a window of chunks has.
    private(set) var isFull = false

    init(_ sink: AttemptSink) {
        self.sink = sink
    }

    mutating func append(_ bytes: Data) {
        pieces.append(bytes) { $0.join(bytes) }
        count += bytes.count
        if count >= ChunkWindow.size { isFull = true }
    }

    mutating func end(with failure: TransportFailure?) {
        end = .some(failure)
    }

    mutating func next() -> Event? {
        if let bytes = pieces.popFirst() { return .bytes(bytes) }
        return end.take().map { .end($0) }
    }
}

extension LoadState {
    /// Ends the attempt of a turn, or notes its end while events are held; nil when its turn has passed.
    mutating func attemptEnded(turn: Int, _ failure: TransportFailure?) -> Attempt? {
        guard let attempt = attempt(turn: turn) else { return nil }
        guard attempt.held == nil else {
            _ = updateAttempt(turn: turn) { $0.held?.end(with: failure) }
            return attempt
        }
        return enter(.starting) == nil ? nil : attempt
    }
}

extension Exchange {
    /// Holds what comes of an attempt.
    func hold(_ sink: AttemptSink) {
        _ = state.withLock { $0.updateAttempt(turn: sink.turn) { $0.held = HeldEvents(sink) } }
    }

    /// The head of an attempt whose events are held, and who is told of them; nil when it is over.
    func held(turn: Int) -> (ResponseHead, AttemptSink)? {
        state.withLock { state in
            guard let attempt = state.attempt(turn: turn), let head = attempt.head,
                let held = attempt.held
            else { return nil }
            return (head, held.sink)
        }
    }

    /// Takes what was held, in order, until there is nothing more: from then on events are not held.
    func takeHeld(_ sink: AttemptSink) {
        enum Next: Sendable {
            case bytes(Data)
            case end(Attempt, TransportFailure?)
            case resume(any TransportTask)
            case nothing
        }
        while true {
            let next = state.withLock { state -> Next in
                var next = Next.nothing
                _ = state.updateAttempt(turn: sink.turn) { attempt in
                    // Asked in place: a copy of the attempt would be one of all that is held.
                    let event = attempt.held?.next()
                    if case .bytes(let bytes) = event { return next = .bytes(bytes) }
                    let isPaused = attempt.held?.isFull == true
                    attempt.held = nil
                    if case .end(let failure) = event {
                        next = .end(attempt, failure)
                    } else if isPaused, let task = attempt.task {
                        next = .resume(task)
                    }
                }
                if case .end = next, state.enter(.starting) == nil { return .nothing }
                return next
            }
            switch next {
            case .bytes(let bytes): received(bytes, turn: sink.turn, wereHeld: true)
            case .end(let attempt, let failure):
                return proceed(step(after: attempt, sink, failure: failure, holdsSlot: false))
            case .resume(let task):
                if !recipient.isFull { task.resume() }
                return
            case .nothing: return
            }
        }
    }
}
