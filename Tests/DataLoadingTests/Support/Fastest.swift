// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The shortest time of up to twenty tries; one within the limit ends them.
///
/// A busy machine may be late, for some tries in a row; a promise of time is about what the library
/// adds, which is in every one of them.
func fastest(
    within limit: Duration, _ attempt: () async throws -> Duration
) async rethrows -> Duration {
    var fastest = Duration.seconds(1_000)
    for _ in 0..<20 where fastest >= limit {
        fastest = min(fastest, try await attempt())
    }
    return fastest
}

/// Whether a scene in real time comes off: at its pace, or at four or sixteen times as slow a one.
///
/// A busy machine may not keep up with limits that are short for a test's sake; what the library
/// does wrong it does at any pace.
func unhurried(_ play: (_ pace: Int) async throws -> Bool) async rethrows -> Bool {
    for pace in [1, 4, 16] where try await play(pace) { return true }
    return false
}
