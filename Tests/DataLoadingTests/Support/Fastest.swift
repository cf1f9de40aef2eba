// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The shortest time of up to twenty tries, stopping at the first one within the limit.
///
/// It overlooks occasional delays; `usually` does not.
func fastest(
    within limit: Duration, _ attempt: () async throws -> Duration
) async rethrows -> Duration {
    var fastest = Duration.seconds(1_000)
    for _ in 0..<20 where fastest >= limit {
        fastest = min(fastest, try await attempt())
    }
    return fastest
}
