// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The attempts of a load: all of them, or the first and the last ones.
struct AttemptList: Sendable {
    static let maxKept = 8

    private(set) var kept: [LiveAttempt] = []
    /// The number of attempts between the first and the second one that are not kept.
    private(set) var leftOut = 0

    /// Adds an attempt; of too many the first one is kept, and the last ones, which decided.
    mutating func append(_ attempt: LiveAttempt) {
        if kept.count == Self.maxKept {
            kept.remove(at: 1)
            leftOut += 1
        }
        kept.append(attempt)
    }
}
