// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoading

extension TokenAuthoriser {
    /// Makes an authoriser whose renewals, pauses and limits come when the test says so.
    ///
    /// It sets an alarm of its own while a fetch is under way; `ManualClock.waitForAlarms` counts it
    /// beside that of a service with the same clock.
    ///
    /// - Parameters:
    ///   - identifier: A name for logs.
    ///   - hosts: As for an authoriser of one's own.
    ///   - allowsPlainLoopback: As for an authoriser of one's own.
    ///   - clock: What tokens' lives, limits and pauses are counted on.
    ///   - seed: Where the jitter of pauses comes from; equal seeds give equal pauses.
    ///   - apply: As for an authoriser of one's own.
    ///   - fetch: As for an authoriser of one's own.
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
