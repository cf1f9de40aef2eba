// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation
import Testing

@testable import FeedDaemon

@Suite struct ConfigurationTests {
    private static let whole = """
        {
            "features": [
                {"name": "news", "urls": ["https://a.test/news", "http://b.test"], "interval": 5},
                {"name": "events", "urls": ["https://A.test/live"], "interval": 0.5,
                 "mode": "chunks", "authorised": true}
            ],
            "rates": {"default": 10, "urls": {"https://a.test/news": 0.5, "http://b.test": 0}},
            "addresses": {"a.test": ["203.0.113.7", "backup.test:8443", "[::1]"]},
            "token": {"value": "s3cret", "hosts": ["a.test"]},
            "timeouts": {"connect": 5, "idle": 15, "total": 30},
            "retries": 2
        }
        """

    @Test func `reads everything that a file may say`() throws {
        let configuration = try ConfigurationFile.configuration(in: Self.whole)
        let features = configuration.features
        #expect(features.map(\.name) == ["news", "events"])
        #expect(features.map(\.urls.count) == [2, 1])
        #expect(features.map(\.interval) == [.seconds(5), .milliseconds(500)])
        #expect(features.map(\.isStreamed) == [false, true])
        #expect(features.map(\.isAuthorised) == [false, true])
        #expect(configuration.defaultRate == 10)
        #expect(configuration.rates.map(\.requestsPerSecond) == [0.5, 0])
        #expect(configuration.addresses["a.test"]?.count == 3)
        #expect(configuration.timeouts.idle == .seconds(15))
        #expect(configuration.retries == 2)
        guard case .token("s3cret", ["a.test"]) = configuration.credential else {
            Issue.record("another token")
            return
        }
    }

    @Test func `makes the service's configuration of it`() throws {
        let configuration = try ConfigurationFile.configuration(in: Self.whole)
        let made = DataLoaderService.Configuration(configuration)
        let url = try #require(URL(string: "https://a.test/news/today"))
        let other = try #require(URL(string: "https://c.test"))
        #expect(made.rateLimiter.requestsPerSecond(for: url) == 0.5)
        #expect(made.rateLimiter.requestsPerSecond(for: other) == 10)
        #expect(made.resolver.address(forHost: "a.test") == "203.0.113.7")
        #expect(made.timeouts.total == .seconds(30))
        #expect(made.retry.maximumRetryCount == 2)
    }

    @Test func `needs nothing but features`() throws {
        let text = #"{"features": [{"name": "a", "urls": ["http://a.test"], "interval": 1}]}"#
        let configuration = try ConfigurationFile.configuration(in: text)
        #expect(configuration.defaultRate == nil)
        #expect(configuration.timeouts == Timeouts())
    }

    /// A change to the file above, and where its mistake is then: what stands there, and what is said.
    struct Mistake: Sendable, CustomTestStringConvertible {
        let old: String
        let new: String
        let line: Int
        let message: String

        init(_ old: String, _ new: String, _ line: Int, _ message: String) {
            self.old = old
            self.new = new
            self.line = line
            self.message = message
        }

        var testDescription: String { new }
    }

    @Test(arguments: [
        Mistake("\"retries\": 2", "\"retries\": 2,", 12, "key in quotes"),
        Mistake("\"retries\": 2", "\"retries\": 2.5", 11, "whole number"),
        Mistake("\"retries\"", "\"retrys\"", 11, "has no \"retrys\""),
        Mistake("\"name\": \"news\", ", "", 3, "needs \"name\""),
        Mistake("\"interval\": 0.5", "\"pause\": 0.5", 4, "has no \"pause\""),
        Mistake("\"interval\": 5", "\"interval\": 0", 3, "between"),
        Mistake("\"interval\": 5", "\"interval\": \"5\"", 3, "must be a number, not a string"),
        Mistake("\"events\"", "\"news\"", 4, "two features"),
        Mistake("\"chunks\"", "\"pieces\"", 5, "\"whole\" or \"chunks\""),
        Mistake("true}", "1}", 5, "true or false"),
        Mistake("\"http://b.test\"]", "\"b.test\"]", 3, "http://"),
        Mistake("\"http://b.test\"]", "\"ftp://b.test\"]", 3, "http://"),
        Mistake("\"http://b.test\"]", "\"http://b test\"]", 3, "no URL"),
        Mistake("\"http://b.test\"]", "\"http:///x\"]", 3, "no host"),
        Mistake("\"http://b.test\"]", "\"http://me:pw@b.test\"]", 3, "name or password"),
        Mistake("[\"https://A.test/live\"]", "[]", 4, "must not be empty"),
        Mistake("https://A.test/live", "https://c.test/live", 4, "this URL's host"),
        Mistake("https://A.test/live", "http://a.test/live", 4, "https only"),
        Mistake("\"default\": 10", "\"default\": -1", 7, "between"),
        Mistake("\"http://b.test\": 0", "\"b.test\": 0", 7, "http://"),
        Mistake("0.5, \"http", "-0.5, \"http", 7, "between"),
        Mistake("\"a.test\": [\"203", "\"a.test:80\": [\"203", 8, "no host name"),
        Mistake("203.0.113.7", "http://203.0.113.7", 8, "no address"),
        Mistake("\"value\": \"s3cret\", ", "", 9, "either"),
        Mistake("\"value\": \"s3cret\"", "\"environment\": \"FEED_NONE\"", 9, "not set"),
        Mistake("\"connect\": 5", "\"connect\": 1e9", 10, "between"),
        Mistake("{\"connect\": 5, \"idle\": 15, \"total\": 30}", "3", 10, "must be an object"),
    ])
    func `points at the line of a mistake`(mistake: Mistake) throws {
        try #require(Self.whole.contains(mistake.old))
        let text = Self.whole.replacingOccurrences(of: mistake.old, with: mistake.new)
        let found = #expect(throws: Misreading.self) {
            try ConfigurationFile.configuration(in: text)
        }
        #expect(found?.position.line == mistake.line)
        #expect(found?.message.contains(mistake.message) == true, "\(found?.message ?? "")")
    }

    @Test func `a token without the feature's need is no mistake, the need without one is`() throws
    {
        let start = try #require(Self.whole.range(of: "    \"token\""))
        let end = try #require(Self.whole.range(of: "    \"timeouts\""))
        let text = Self.whole.replacingCharacters(in: start.lowerBound..<end.lowerBound, with: "")
        let found = #expect(throws: Misreading.self) {
            try ConfigurationFile.configuration(in: text)
        }
        #expect(found?.message.contains("there is no \"token\"") == true)
    }
}
