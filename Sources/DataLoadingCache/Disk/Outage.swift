// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Turns writing off for a while after a failure: a pure value.
///
/// A disk that is full or read-only fails each write, and would be tried for each response.
struct Outage: Sendable {
    /// When writing is tried again; nil while writes succeed.
    private var end: Instant?
    private(set) var failures = 0

    /// Whether the last write has failed.
    var isFailing: Bool { end != nil }

    /// How long nothing is written after a failure.
    static let length = Duration.seconds(60)

    /// Whether to write.
    func allowsWrite(at now: Instant) -> Bool {
        end.map { $0 <= now } ?? true
    }

    /// Notes a failure; true for the first one since a write has succeeded.
    mutating func noteFailure(at now: Instant) -> Bool {
        failures += 1
        defer { end = now + Self.length }
        return end == nil
    }

    mutating func noteSuccess() {
        end = nil
    }
}
