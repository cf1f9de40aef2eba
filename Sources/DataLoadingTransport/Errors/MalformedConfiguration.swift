// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Errors for malformed settings that were made by functions that do not throw.
///
/// Loads that such a setting concerns end with its error before anything is sent, until the setting
/// is corrected. `validate()` of a configuration, a resolver or a rate limiter throws it. It names the
/// part, never the content, which may be a secret.
extension DataLoaderError {
    /// The error of a setting that is out of its range.
    package static func malformed(_ setting: String, _ fault: String) -> DataLoaderError {
        .invalidConfiguration(reason: "\(setting) \(fault)")
    }

    package static let malformedHosts = invalidConfiguration(
        reason: "an authoriser's host is neither a name, an address, nor one of them with a port")
    package static let noHosts = invalidConfiguration(reason: "an authoriser has no hosts")
    package static let malformedAddress = invalidConfiguration(
        reason:
            "an address of the host is neither a name, an address nor the path of a socket")
    package static let malformedAddressedHost = invalidConfiguration(
        reason: "addresses were set for what is no host")
    package static let malformedRate = invalidConfiguration(
        reason: "a rate is negative, infinite or not a number")
    package static let malformedBurst = invalidConfiguration(
        reason: "a burst of a RateLimiter is below one")
    package static let malformedGate = invalidConfiguration(
        reason: "a delay for RateLimiter.setRetryAfter is not above zero and at most an hour")
    package static let malformedGatedURL = invalidConfiguration(
        reason: "RateLimiter.setRetryAfter was called for what is no http or https URL")
    package static let malformedEjection = invalidConfiguration(
        reason:
            "HostResolver.firstEjection or maxEjection is not above zero and at most a day, "
            + "or the longest is shorter than the first")
    package static let malformedRatedURL = invalidConfiguration(
        reason: "a rate was set for what is no http or https URL")
    package static let missingRatedPath = invalidConfiguration(
        reason: "a rate was set for the path of a URL without a path")
}
