// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Where a load is: everything that its one lock guards.
struct LoadState: Sendable {
    /// The stage, and what only that stage needs.
    private(set) var stage: Stage = .starting
    /// Counts stages; a callback that carries an older turn is dropped.
    private(set) var turn = 0
    /// What the load has become so far.
    var progress: LoadProgress

    /// The one thing that a load waits for.
    enum Stage: Sendable {
        /// It runs on the thread that performs it.
        case starting
        /// An authoriser has the request.
        case authorising(any Authoriser)
        /// It wants slots; the ticket is missing until the queue has answered.
        case waiting(Admission.Ticket?)
        /// It pauses before another attempt; the entry is missing until the agenda has answered.
        case pausing(Agenda.Entry?)
        /// Its owner is asked something on its own queue.
        case asking
        /// An attempt is with the transport.
        case running(Attempt)
        /// The outcome is decided, and can still turn into a cancellation until it is taken.
        case decided(DataLoaderError?)
        /// The outcome was taken by whoever hears of it: nothing can happen any more.
        case over
    }

    init(progress: LoadProgress) {
        self.progress = progress
    }

    /// Goes to another stage and returns its turn; nil when the load is decided already.
    mutating func enter(_ next: Stage) -> Int? {
        guard !isDecided else { return nil }
        stage = next
        turn += 1
        return turn
    }

    /// Changes what the present stage carries, if it is still the stage of a turn.
    mutating func update(_ next: Stage, turn: Int) -> Bool {
        guard turn == self.turn, !isDecided else { return false }
        stage = next
        return true
    }

    /// Decides the outcome and returns the stage that it ends; nil when it was decided before.
    mutating func decide(_ error: DataLoaderError?) -> Stage? {
        guard !isDecided else { return nil }
        let ended = stage
        stage = .decided(error)
        turn += 1
        return ended
    }

    /// Turns an outcome that nobody has taken into another one; false when somebody has it.
    ///
    /// What was cancelled stays cancelled: its token has said so.
    mutating func turnDecided(into error: DataLoaderError) -> Bool {
        guard case .decided(let outcome) = stage, outcome != .cancelled else { return false }
        stage = .decided(error)
        return true
    }

    /// Takes the outcome; nil when there is none, or somebody has it.
    mutating func take() -> DataLoaderError?? {
        guard case .decided(let error) = stage else { return nil }
        stage = .over
        return .some(error)
    }

    var isDecided: Bool {
        switch stage {
        case .decided, .over: true
        default: false
        }
    }

    /// Whether the outcome is decided, and a success.
    var isSuccess: Bool {
        if case .decided(nil) = stage { true } else { false }
    }

    /// Whether the load ended because its deadline had passed.
    var hasTimedOut: Bool {
        let outcome: DataLoaderError?
        switch stage {
        case .decided(let error): outcome = error
        case .over: outcome = progress.end.error
        default: return false
        }
        if case .timedOut = outcome { return true }
        return false
    }

    /// The attempt of a turn, when it is the one that runs.
    func attempt(turn: Int) -> Attempt? {
        guard turn == self.turn, case .running(let attempt) = stage else { return nil }
        return attempt
    }

    /// Changes the attempt that runs.
    mutating func updateAttempt(turn: Int, _ change: (inout Attempt) -> Void) -> Bool {
        guard turn == self.turn, case .running(var attempt) = stage else { return false }
        // Taken out while it changes, so that its buffer is not copied.
        stage = .starting
        change(&attempt)
        stage = .running(attempt)
        return true
    }
}

/// One attempt with the transport.
struct Attempt: Sendable {
    /// The handle, missing until the transport has returned it.
    var task: (any TransportTask)?
    /// The final head, once it is there.
    var head: ResponseHead?
    /// What to do once the response has ended, known from its head.
    var verdict: Verdict = .undecided
    /// The body of a response that is delivered whole.
    var body = Data()
    /// Whether the body is handed on while it arrives; otherwise it is kept.
    var handsOn = false
    /// How long the body is in all, where its head tells.
    var total: Int64?
    /// The server sent more than the range that it announced.
    var isBeyondRange = false
    /// Whether the body is larger than is allowed; then it is not kept.
    var isTooLarge = false
    /// How much of a body that nobody will see went by.
    var discarded = 0
    /// What came while users' code is asked about the head; nil when nobody is asked.
    var held: HeldEvents?

    /// What becomes of a response.
    enum Verdict: Sendable {
        /// No head yet.
        case undecided
        /// It is the load's response.
        case deliver
        /// It is the rest of the load's response, up to the end of a range.
        case append(ContentRange)
        /// It is not delivered; this comes next.
        case discard(then: Exchange.Step)
        /// It is delivered only if what comes next says so.
        case hold(then: Exchange.Step)
    }
}
