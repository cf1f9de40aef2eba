// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Which URLs a rate of a host and a rate of a path apply to.
@Suite struct RateScopeTests {
    private func limiter(_ perSecond: Double?) -> RateLimiter {
        RateLimiter(defaultRequestsPerSecond: perSecond)
    }

    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    private func key(_ limiter: RateLimiter, _ text: String) throws -> RuleKey {
        limiter.ruleKey(for: try RequestTarget(text: text))
    }

    @Test func `the most specific rate rule wins, then the origin's, then the default`() throws {
        let limiter = limiter(10)
        limiter.setRequestsPerSecond(5, forHostOf: try url("https://a.test"))
        limiter.setRequestsPerSecond(2, forPathOf: try url("https://a.test/search/x?q=1"))
        for (text, expected) in [
            ("https://a.test/search", 2), ("https://a.test/search?q", 2), ("https://a.test/", 5),
            ("https://a.test/searching", 5), ("https://b.test/search", 10),
            ("http://a.test/search", 10), ("https://a.test:8443/search", 10),
        ] as [(String, Double)] {
            #expect(limiter.requestsPerSecond(for: try url(text)) == expected, "\(text)")
        }
    }

    @Test func `a rate of a host ignores the path of its URL, and one of a path needs a path`()
        throws
    {
        let limiter = limiter(10)
        limiter.setRequestsPerSecond(5, forHostOf: try url("https://a.test/search/x?q=1"))
        #expect(limiter.requestsPerSecond(for: try url("https://a.test/other")) == 5)
        #expect(try key(limiter, "https://a.test/search").pathComponent == nil)
        for text in ["https://a.test", "https://a.test/", "https://a.test/?q=1"] {
            limiter.setRequestsPerSecond(2, forPathOf: try url(text))
            #expect(throws: DataLoaderError.missingRatedPath) { try limiter.validate() }
            #expect(limiter.requestsPerSecond(for: try url("https://a.test")) == 5)
            let target = try RequestTarget(text: "https://a.test/search")
            #expect(throws: DataLoaderError.missingRatedPath) {
                try limiter.validRuleKey(for: target)
            }
            let other = try RequestTarget(text: "https://b.test/search")
            #expect(throws: Never.self) { try limiter.validRuleKey(for: other) }
            limiter.setRequestsPerSecond(nil, forPathOf: try url(text))
            try limiter.validate()
        }
    }
}
