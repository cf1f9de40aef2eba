// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The attempts of a load: all of them, or the first and the last ones.
struct AttemptList: Sendable {
    static let maxKept = 8

    // Apart from the others: most loads have one attempt, and need no array.
    private var first: LiveAttempt?
    private var later: [LiveAttempt] = []
    /// The number of attempts between the first and the second one that are not kept.
    private(set) var leftOut = 0
    /// Whether one of them is that of an authoriser's own load.
    private(set) var isInternal = false

    var kept: [LiveAttempt] { first.map { [$0] + later } ?? [] }

    /// Adds an attempt; of too many the first one is kept, and the last ones, which decided.
    mutating func append(_ attempt: LiveAttempt) {
        isInternal = isInternal || attempt.isInternal
        guard first != nil else {
            first = attempt
            return
        }
        if later.count == Self.maxKept - 1 {
            later.removeFirst()
            leftOut += 1
        }
        later.append(attempt)
    }
}
