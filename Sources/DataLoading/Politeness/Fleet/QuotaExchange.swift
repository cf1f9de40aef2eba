// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The lifetime of a question to a provider: at most one of its kind is under way.
enum QuotaExchange: Hashable, Sendable {
    /// Nothing is to be asked.
    case none
    /// The keeper is to ask, or about to.
    case ordered
    /// Asked; the answer has not come.
    case sent(number: UInt64, at: Instant)
    /// Asked too long ago: an answer does not count, but the provider has not returned.
    case late(number: UInt64)
    /// Ask again at the earliest when a timer fires.
    case resting

    /// Orders a question; false if there is one, or if it is too early.
    mutating func order() -> Bool {
        guard self == .none else { return false }
        self = .ordered
        return true
    }

    /// Begins to ask; false if it was not ordered.
    mutating func begin(_ number: UInt64, at now: Instant) -> Bool {
        guard self == .ordered else { return false }
        self = .sent(number: number, at: now)
        return true
    }

    /// Notes that the time for the answer is over; false for an answer that came.
    mutating func expire(_ number: UInt64) -> Bool {
        guard case .sent(number, _) = self else { return false }
        self = .late(number: number)
        return true
    }

    /// Ends a question; returns when it was sent, nil if its answer is too late or of no interest.
    mutating func end(_ number: UInt64) -> Instant? {
        switch self {
        case .sent(number, let sent):
            self = .none
            return sent
        case .late(number):
            self = .none
            return nil
        default:
            return nil
        }
    }

    /// Rests until the timer; only if nothing is under way.
    mutating func rest() {
        if self == .none { self = .resting }
    }

    /// Ends a rest.
    mutating func wake() {
        if self == .resting { self = .none }
    }
}
