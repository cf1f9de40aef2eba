// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
public import DataLoadingAuth
public import DataLoading

extension TokenAuthoriser {
    /// Makes an authoriser on a manual clock, with randomness from a seed.
    ///
    /// It sets an alarm of its own during a fetch. `ManualClock.waitForAlarms` counts that alarm in
    /// addition to the one of a service with the same clock.
    ///
    /// - Parameters:
    ///   - identifier: A name for logs.
    ///   - hosts: As in the public initialiser.
    ///   - allowsPlainLoopback: As in the public initialiser.
    ///   - clock: The clock of tokens' lifetimes, limits and pauses.
    ///   - seed: The seed of the pauses' jitter; equal seeds give equal pauses.
    ///   - apply: As in the public initialiser.
    ///   - fetch: As in the public initialiser.
    public convenience init(
        identifier: String = "token", hosts: Set<String>, allowsPlainLoopback: Bool = false,
        clock: ManualClock, seed: UInt64 = 1,
        apply: (@Sendable (AccessToken, inout DataLoaderRequest) -> Void)? = nil,
        fetch: @escaping @Sendable (AccessToken?) async throws -> AccessToken
    ) {
        self.init(
            identifier: identifier, hosts: hosts, allowsPlainLoopback: allowsPlainLoopback,
            timekeeper: clock.timekeeper, random: RandomSource(SeededGenerator(seed: seed)),
            apply: apply, fetch: fetch)
    }
}
