// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The shortest time of up to five tries; one within the limit ends them.
///
/// A busy machine may be late; a promise of time is about what the library adds.
func fastest(
    within limit: Duration, _ attempt: () async throws -> Duration
) async rethrows -> Duration {
    var fastest = Duration.seconds(1_000)
    for _ in 0..<5 where fastest >= limit {
        fastest = min(fastest, try await attempt())
    }
    return fastest
}
