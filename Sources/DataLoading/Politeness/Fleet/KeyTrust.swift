// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Whether the store gives slots of one key: it may refuse them and give those of others.
///
/// Somebody else may have put a value in the key's place, or the store's user may lack the right. The key
/// is lost then, and the store is not.
enum KeyTrust: Hashable, Sendable {
    case trusted
    /// There was no answer about the key since an instant.
    case failing(since: Instant)
    /// Others were answered meanwhile, and the patience is over.
    case refused(Refusal)

    struct Refusal: Hashable, Sendable {
        /// When the first question without an answer was sent.
        var since: Instant
        /// When the last one failed.
        var last: Instant
        /// The number of failures since it was given up.
        var count = 1
        /// Where in a first interval of its own share the daemon starts, from zero to one.
        let phase: Double
    }

    /// How long after a failure the next one belongs to it: a key in use is asked about more often.
    private static let memory = Duration.seconds(30)

    /// What is refused; nil for a key that is not.
    var refusal: Refusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }

    var isRefused: Bool { refusal != nil }

    /// Since when there was no answer; nil where there was.
    var failingSince: Instant? {
        switch self {
        case .trusted: nil
        case .failing(let since): since
        case .refused(let refusal): refusal.since
        }
    }

    /// Notes that a question, which was sent at an instant, has no answer.
    mutating func failed(sentAt sent: Instant, at now: Instant) {
        switch self {
        case .trusted: self = .failing(since: sent)
        case .failing(let since): self = .failing(since: min(since, sent))
        case .refused(var refusal):
            // No question was sent for long: the time of a share begins anew.
            if now - refusal.last > Self.memory { refusal.since = sent }
            refusal.last = now
            refusal.count = min(refusal.count + 1, 1_000)
            self = .refused(refusal)
        }
    }

    /// Gives the key up, if its patience is over; returns whether that is new.
    mutating func giveUp(after patience: Duration, at now: Instant, phase: Double) -> Bool {
        guard case .failing(let since) = self, since + patience <= now else { return false }
        self = .refused(Refusal(since: since, last: now, phase: phase))
        return true
    }
}
