// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// When an authoriser fetches a credential, and how often at most.
struct CredentialRules: Sendable {
    /// How long before its expiry a credential is renewed: a tenth of its life, at most this.
    var renewsEarly = Duration.seconds(60)
    /// How many flights may begin within `window`; then loads fail rather than ask in a circle.
    var mostInWindow = 5
    /// What `mostInWindow` counts over.
    var window = Duration.seconds(30)
    /// How many loads may wait at once; one more ends `.overloaded`, as where admission is full.
    var mostHeld = 10_000
    /// How long a flight may take; nil for as long as a person takes.
    var limit: Duration? = .seconds(30)
    /// How long loads wait for one that may take longer, while there is something that lasts.
    var patience = Duration.seconds(30)
    /// Whether an error says that what a flight began with is good for nothing any more.
    var endsCredential: @Sendable (any Error) -> Bool = {
        ($0 as? AuthorisationError)?.endsCredential ?? false
    }
    /// How long to wait after a failed flight; nil for not at all.
    var backOff: ExponentialTimer? = ExponentialTimer(
        initialTime: .seconds(1), maxTime: .seconds(60))
}
