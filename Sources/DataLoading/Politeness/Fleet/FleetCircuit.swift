// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Whether the store of the rates answers: one state for all keys, so that the wait for a store that
/// does not is paid once.
enum FleetCircuit: Hashable, Sendable {
    /// It answers, or has failed to since an instant.
    case shared(failingSince: Instant?)
    /// It did not answer in time.
    case lost(since: Instant)
    /// This daemon has said goodbye.
    case ended(since: Instant)

    /// How long an answer may take to count.
    static let answerLimit = Duration.milliseconds(250)

    var isShared: Bool {
        if case .shared = self { true } else { false }
    }

    /// Notes an answer; returns whether the store was lost before.
    mutating func answered() -> Bool {
        switch self {
        case .shared:
            self = .shared(failingSince: nil)
            return false
        case .lost:
            self = .shared(failingSince: nil)
            return true
        case .ended:
            return false
        }
    }

    /// Notes that a question which was sent at an instant has no answer.
    mutating func failed(sentAt sent: Instant) {
        guard case .shared(let since) = self else { return }
        self = .shared(failingSince: min(since ?? sent, sent))
    }

    /// When a patience ends; nil while the store answers, or is lost already.
    func end(of patience: Duration) -> Instant? {
        guard case .shared(let since?) = self else { return nil }
        return since + patience
    }

    /// Gives the store up.
    mutating func lose(at now: Instant) {
        if isShared { self = .lost(since: now) }
    }

    mutating func end(at now: Instant) { self = .ended(since: now) }

    /// What is to be done at an instant.
    func mode(_ policy: LossPolicy, at now: Instant) -> FleetMode {
        switch self {
        case .shared: return .shared
        case .lost(let since), .ended(let since):
            switch policy {
            case .pause: return .paused
            case .share(for: nil): return .share(since: since)
            case .share(for: let limit?):
                return now - since < limit ? .share(since: since) : .paused
            }
        }
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
