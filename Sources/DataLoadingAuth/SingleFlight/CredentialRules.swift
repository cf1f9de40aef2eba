// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// The rules for when, and how often, an authoriser fetches a credential.
struct CredentialRules: Sendable {
    /// The maximum time before its expiry at which a credential is renewed.
    ///
    /// A tenth of its lifetime applies if that is shorter.
    var renewalMargin = Duration.seconds(60)
    /// The maximum number of fetches that begin within `window`; then loads fail.
    var maxInWindow = 5
    /// The time over which `maxInWindow` counts.
    var window = Duration.seconds(30)
    /// The maximum number of waiting loads; one more fails with `.overloaded`.
    var maxWaiters = 10_000
    /// The time for which loads wait for a fetch while there is a valid credential.
    var timeout = Duration.seconds(30)
    /// Whether a fetch is cancelled and fails after `timeout`; false where a person is asked.
    var cancelsAfterTimeout = true
    /// Whether an error means that the credential which a fetch began with is invalid.
    var endsCredential: @Sendable (any Error) -> Bool = {
        ($0 as? AuthorisationError)?.endsCredential ?? false
    }
    /// The pauses after failed fetches; nil for none.
    var backOff: ExponentialTimer? = ExponentialTimer(
        initialTime: .seconds(1), maxTime: .seconds(60))
    /// The pauses before refused credentials are replaced.
    var replacementPauses = ReplacementPauses()

    /// The pauses before refused credentials are replaced, when refusals follow one another.
    ///
    /// They start again once no credential was refused for `lifetime`.
    struct ReplacementPauses: Sendable {
        /// The number of replacements without a pause: those of one window after the first fetch.
        var immediateReplacements = 4
        private var pauses = ExponentialTimer(initialTime: .seconds(1), maxTime: .seconds(600))

        /// The longest pause.
        var lifetime: Duration { pauses.maxTime }

        mutating func nextPause(
            using random: inout some RandomNumberGenerator
        ) -> Duration {
            guard immediateReplacements == 0 else {
                immediateReplacements -= 1
                return .zero
            }
            return pauses.timeIntervalAndCalculateNext(using: &random)
        }
    }
}
