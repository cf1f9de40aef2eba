// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
public import DataLoadingTransport
public import Foundation

extension RateLimiter {
    /// A rate for a host, or for the part of one below a first path component.
    public struct Setting: Sendable {
        private let url: URL
        private let isForPath: Bool
        private let requestsPerSecond: Double?
        private let burst: Int

        /// A rate for a URL's host, as `setRequestsPerSecond(_:burst:forHostOf:)` takes it.
        public static func host(
            of url: URL, requestsPerSecond: Double?, burst: Int = 1
        ) -> Setting {
            Setting(
                url: url, isForPath: false, requestsPerSecond: requestsPerSecond, burst: burst)
        }

        /// A rate for a part of a URL's host, as `setRequestsPerSecond(_:burst:forPathOf:)` takes
        /// it.
        public static func path(
            of url: URL, requestsPerSecond: Double?, burst: Int = 1
        ) -> Setting {
            Setting(
                url: url, isForPath: true, requestsPerSecond: requestsPerSecond, burst: burst)
        }

        fileprivate func key() throws(DataLoaderError) -> RuleKey {
            guard let target = try? RequestTarget(url) else { throw .malformedRatedURL }
            guard isForPath else { return RuleKey(origin: target.origin) }
            guard let key = RuleKey(partOf: target) else { throw .missingRatedPath }
            return key
        }

        fileprivate func rule() throws(DataLoaderError) -> RateRule {
            try RateRule(requestsPerSecond: requestsPerSecond, burst: burst)
        }
    }

    /// Replaces every rate, and the default, at once, for example when a daemon reads its
    /// configuration again.
    ///
    /// Rates that are not among the settings are gone. Loads that wait are spaced by the new rates.
    /// Slots that were taken still count, and so does a server's `Retry-After`; where the part that
    /// it closed has no rate any more, it closes the whole host. Of two settings for one host or
    /// part the last counts.
    ///
    /// - Parameters:
    ///   - settings: All rates.
    ///   - defaultRequestsPerSecond: The default, in requests per second; nil means no limit, zero
    ///     pauses.
    ///   - burst: The burst of the default; by default 1.
    /// - Throws: `.invalidConfiguration` for a malformed rate or URL. Nothing has changed then.
    public func replaceRates(
        _ settings: [Setting], defaultRequestsPerSecond: Double?, burst: Int = 1
    ) throws(DataLoaderError) {
        let usual = try RateRule(requestsPerSecond: defaultRequestsPerSecond, burst: burst)
        var rules: [RuleKey: RateRule] = [:]
        for setting in settings { rules[try setting.key()] = try setting.rule() }
        replace(rules, default: usual)
    }
}
