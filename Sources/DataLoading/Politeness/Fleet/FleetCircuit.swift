// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Whether the store of the rates answers: one state for all keys, so that the wait for a store that
/// does not is paid once.
///
/// A store may answer heartbeats and refuse slots, for a right that it does not give. Heartbeats show
/// that it is there, and only answers about keys that it does what it is for.
struct FleetCircuit: Hashable, Sendable {
    enum State: Hashable, Sendable {
        /// It answers, or has failed to since an instant.
        case shared(failingSince: Instant?)
        /// It did not answer in time.
        case lost(since: Instant)
        /// This daemon has said goodbye.
        case ended(since: Instant)
    }

    private(set) var state = State.shared(failingSince: nil)
    /// How often the store was lost since it last answered about a key.
    private var losses = 0

    /// How long an answer may take to count.
    static let answerLimit = Duration.milliseconds(250)
    /// How long a store that was lost twice stays lost, though it answers heartbeats: doubled each time,
    /// up to 32 s.
    static let firstLoss = Duration.seconds(1)

    var isShared: Bool {
        if case .shared = state { true } else { false }
    }

    var isEnded: Bool {
        if case .ended = state { true } else { false }
    }

    /// Notes an answer about a key, before `answered`.
    mutating func noteLease() {
        losses = 0
        calm()
    }

    /// Forgets earlier failures of a store that is not lost.
    mutating func calm() {
        if isShared { state = .shared(failingSince: nil) }
    }

    /// Notes an answer; returns whether the store was lost before and counts as there again.
    mutating func answered(at now: Instant) -> Bool {
        guard case .lost(let since) = state else { return false }
        guard losses < 2 || now - since >= Self.firstLoss * (1 << min(losses - 2, 5)) else {
            return false
        }
        state = .shared(failingSince: nil)
        return true
    }

    /// Notes that a question about a key, which was sent at an instant, has no answer.
    mutating func failed(sentAt sent: Instant) {
        guard case .shared(let since) = state else { return }
        state = .shared(failingSince: min(since ?? sent, sent))
    }

    /// When a patience ends; nil while the store answers, or is lost already.
    func end(of patience: Duration) -> Instant? {
        guard case .shared(let since?) = state else { return nil }
        return since + patience
    }

    /// Gives the store up.
    mutating func lose(at now: Instant) {
        guard isShared else { return }
        state = .lost(since: now)
        losses = min(losses + 1, 1_000)
    }

    mutating func end(at now: Instant) { state = .ended(since: now) }

    /// What is to be done at an instant.
    func mode(_ policy: LossPolicy, at now: Instant) -> FleetMode {
        switch state {
        case .shared: .shared
        case .lost(let since): policy.mode(since: since, at: now)
        // It has not lost the store, and its share is its own for as long as it runs.
        case .ended(let since): .share(since: since)
        }
    }
}

extension LossPolicy {
    /// When a daemon that has lost the store at an instant may no longer use its share.
    func end(since loss: Instant) -> Instant {
        switch self {
        case .pause: loss
        case .share(for: nil): .distantFuture
        case .share(for: let limit?): loss + limit
        }
    }

    /// What is to be done at an instant where the store was lost at another.
    func mode(since loss: Instant, at now: Instant) -> FleetMode {
        now < end(since: loss) ? .share(since: loss) : .paused
    }
}

/// Where slots come from.
enum FleetMode: Hashable, Sendable {
    /// The store.
    case shared
    /// The daemon's own share of the rate, since an instant.
    case share(since: Instant)
    /// Nowhere.
    case paused
}
