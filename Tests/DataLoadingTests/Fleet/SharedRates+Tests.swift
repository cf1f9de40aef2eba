// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingSupport
import DataLoadingTesting

extension SharedRates {
    /// Those of one of two daemons, which uses its share without a store.
    static var ofTwo: SharedRates {
        SharedRates(policy: .share(for: nil), window: ms(100), expectedMembers: 2)
    }
}

extension RateRule {
    static func tenPerSecond() throws -> RateRule {
        try RateRule(requestsPerSecond: 10, burst: 1)
    }
}

extension Instant {
    static func at(_ milliseconds: Int64) -> Instant {
        Instant(nanoseconds: milliseconds * 1_000_000)
    }
}

extension [RuleKey] {
    /// Keys of different hosts.
    static func make(_ count: Int) -> [RuleKey] {
        (0..<count).compactMap { RuleKey(QuotaKey(scheme: "http", host: "h\($0).test", port: 80)) }
    }
}
