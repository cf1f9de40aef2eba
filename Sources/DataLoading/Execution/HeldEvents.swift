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

    private var pieces = FIFO<Data>()
    private var count = 0
    private var end: TransportFailure??

    /// Whether the transfer is to be paused: as much is held as a window of chunks has.
    private(set) var isFull = false

    mutating func append(_ bytes: Data) {
        pieces.append(bytes)
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
    func hold(turn: Int) {
        _ = state.withLock { $0.updateAttempt(turn: turn) { $0.held = HeldEvents() } }
    }

    /// Whether the attempt of a turn is still the load's.
    func isRunning(turn: Int) -> Bool {
        state.withLock { $0.attempt(turn: turn) != nil }
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
                guard let attempt = state.attempt(turn: sink.turn) else { return .nothing }
                var event: HeldEvents.Event?
                _ = state.updateAttempt(turn: sink.turn) { attempt in
                    event = attempt.held?.next()
                    guard case .bytes = event else { return attempt.held = nil }
                }
                switch event {
                case .bytes(let bytes): return .bytes(bytes)
                case .end(let failure):
                    return state.enter(.starting) == nil ? .nothing : .end(attempt, failure)
                case nil:
                    guard attempt.held?.isFull == true, let task = attempt.task else {
                        return .nothing
                    }
                    return .resume(task)
                }
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
