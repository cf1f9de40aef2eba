// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingAuth
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
                 "mode": "chunks", "authorised": true},
                {"name": "archive", "urls": ["https://b.test/all"], "interval": 60,
                 "file": "/tmp/all"}
            ],
            "rates": {"default": 10, "urls": {"https://a.test/news": 0.5, "http://b.test": 0}},
            "addresses": {"a.test": ["203.0.113.7", "backup.test:8443", "[::1]"]},
            "token": {"value": "s3cret", "hosts": ["a.test"]},
            "timeouts": {"connect": 5, "idle": 15, "total": 30},
            "retries": 2
        }
        """

    private func configuration(in text: String) throws -> FeedConfiguration {
        try JSONDecoder().decode(FeedConfiguration.self, from: Data(text.utf8))
    }

    /// What is printed for a text that is no configuration.
    private func message(for text: String) -> String? {
        let error = #expect(throws: DecodingError.self) { try configuration(in: text) }
        return error?.message
    }

    @Test func `a file may contain everything that the daemon can be told`() throws {
        let configuration = try configuration(in: Self.whole)
        let features = configuration.features
        #expect(features.map(\.name) == ["news", "events", "archive"])
        #expect(features.map(\.urls.count) == [2, 1, 1])
        #expect(features.map(\.interval) == [.seconds(5), .milliseconds(500), .seconds(60)])
        #expect(features.map(\.body) == [.value, .chunks, .file(URL(filePath: "/tmp/all"))])
        #expect(features.map(\.isAuthorised) == [false, true, false])
        #expect(configuration.defaultRate == 10)
        #expect(Set(configuration.rates.map(\.requestsPerSecond)) == [0.5, 0])
        #expect(configuration.addresses["a.test"]?.count == 3)
        #expect(configuration.timeouts.idle == .seconds(15))
        #expect(configuration.retries == 2)
        guard case .token("s3cret", ["a.test"]) = configuration.credential else {
            Issue.record("another token")
            return
        }
    }

    @Test func `the service gets the rates, addresses, limits and retries of the file`() throws {
        let configuration = try configuration(in: Self.whole)
        let made = DataLoaderService.Configuration(configuration)
        let url = try #require(URL(string: "https://a.test/news/today"))
        let other = try #require(URL(string: "https://c.test"))
        #expect(made.rateLimiter.requestsPerSecond(for: url) == 0.5)
        #expect(made.rateLimiter.requestsPerSecond(for: other) == 10)
        #expect(made.resolver.address(forHost: "a.test") == "203.0.113.7")
        #expect(made.timeouts.total == .seconds(30))
        #expect(made.retry.maximumRetryCount == 2)
    }

    @Test func `a file needs only features`() throws {
        let text = #"{"features": [{"name": "a", "urls": ["http://a.test"], "interval": 1}]}"#
        let configuration = try configuration(in: text)
        #expect(configuration.defaultRate == nil)
        #expect(configuration.timeouts == Timeouts())
    }

    /// A change to the file above, and the message that it leads to.
    struct Mistake: Sendable, CustomTestStringConvertible {
        let old: String
        let new: String
        let message: String

        init(_ old: String, _ new: String, _ message: String) {
            self.old = old
            self.new = new
            self.message = message
        }

        var testDescription: String { new }
    }

    @Test(arguments: [
        Mistake("\"retries\": 2", "\"retries\": 2.5", "retries must be a whole number"),
        Mistake("\"retries\": 2", "\"retries\": null", "retries must be a number, not null"),
        Mistake("\"retries\"", "\"retrys\"", "retrys is an unknown key; there are \"features\", "),
        Mistake("\"name\": \"news\", ", "", "features[0].name is missing"),
        Mistake(
            "\"interval\": 5}", "\"interval\": 5, \"x y\": 1}",
            "features[0][\"x y\"] is an unknown key"),
        Mistake("\"interval\": 0.5,", "", "features[1].interval is missing"),
        Mistake(
            "\"interval\": 0.5", "\"pause\": 0.5", "features[1].pause is an unknown key; there are"),
        Mistake("\"interval\": 5}", "\"interval\": 0}", "features[0].interval must be between"),
        Mistake(
            "\"interval\": 5}", "\"interval\": \"5\"}",
            "features[0].interval must be a number, not a string"),
        Mistake(
            "\"events\"", "\"news\"", "features[1].name is the name of another feature, \"news\""),
        Mistake("\"events\"", "\"\"", "features[1].name must not be empty"),
        Mistake(
            "\"chunks\"", "\"pieces\"", "features[1].mode must be \"whole\" or \"chunks\", not"),
        Mistake(
            "\"file\"", "\"mode\": \"chunks\", \"file\"", "features[2].file cannot be combined"),
        Mistake(
            "b.test/all\"", "b.test/all\", \"http://b.test\"", "features[2].file needs exactly"),
        Mistake("true}", "1}", "features[1].authorised must be true or false, not number"),
        Mistake("\"http://b.test\"]", "\"b.test\"]", "features[0].urls[1] must begin with http://"),
        Mistake(
            "\"http://b.test\"]", "\"ftp://b.test\"]", "features[0].urls[1] must begin with http://"
        ),
        Mistake("\"http://b.test\"]", "\"http://b test\"]", "features[0].urls[1] is not a URL"),
        Mistake("\"http://b.test\"]", "\"http:///x\"]", "features[0].urls[1] has no host"),
        Mistake(
            "\"http://b.test\"]", "\"http://me:pw@b.test\"]",
            "features[0].urls[1] must not contain a user or password"),
        Mistake("[\"https://A.test/live\"]", "[]", "features[1].urls must not be empty"),
        Mistake("[\"https://A.test/live\"]", "{}", "features[1].urls must be an array"),
        Mistake(
            "https://A.test/live", "https://c.test/live",
            "features[1].urls[0] has a host that is not in token.hosts"),
        Mistake(
            "https://A.test/live", "http://a.test:443/live", "features[1].urls[0] must be https"),
        Mistake("\"default\": 10", "\"default\": -1", "rates.default must be between"),
        Mistake("\"default\"", "\"usual\"", "rates.usual is an unknown key"),
        Mistake(
            "\"http://b.test\": 0", "\"b.test\": 0",
            "rates.urls[\"b.test\"] must begin with http://"),
        Mistake(
            "0.5, \"http", "-0.5, \"http", "rates.urls[\"https://a.test/news\"] must be between"),
        Mistake(
            "\"a.test\": [\"203", "\"a.test:80\": [\"203",
            "addresses[\"a.test:80\"] is not a host name"),
        Mistake(
            "\"a.test\": [\"203", "\"A.test\": [\"b.test\"], \"a.test\": [\"203",
            "addresses[\"a.test\"] is a host that is here in another spelling too"),
        Mistake(
            "203.0.113.7", "http://203.0.113.7", "addresses[\"a.test\"][0] must be a name, 10.0.0.1"
        ),
        Mistake("\"value\": \"s3cret\", ", "", "token needs one of \"value\", \"environment\", "),
        Mistake(
            "\"value\": \"s3cret\"", "\"environment\": \"FEED_NONE\"",
            "token.environment names a variable that is not set, FEED_NONE"),
        Mistake("\"connect\": 5", "\"connect\": 1e9", "timeouts.connect must be between"),
        Mistake("\"connect\": 5", "\"dial\": 5", "timeouts.dial is an unknown key"),
        Mistake(
            "{\"connect\": 5, \"idle\": 15, \"total\": 30}", "3",
            "timeouts must be an object, not number"),
    ])
    func `an error in a file is reported with its key path`(mistake: Mistake) throws {
        try #require(Self.whole.contains(mistake.old))
        let text = Self.whole.replacingOccurrences(of: mistake.old, with: mistake.new)
        let found = try #require(message(for: text))
        #expect(found.hasPrefix(mistake.message), "\(found)")
    }

    @Test(arguments: ["", "{", "{\"retries\": 2,,}", "{\"features\": [,]\n}", "\u{FEFF}[", "{} 3"])
    func `a text that is not JSON is reported as such`(text: String) throws {
        let found = try #require(message(for: text))
        #expect(found.hasPrefix("the configuration The given data was not valid JSON"), "\(found)")
    }

    @Test func `an authorised feature needs a token in the file`() throws {
        let start = try #require(Self.whole.range(of: "    \"token\""))
        let end = try #require(Self.whole.range(of: "    \"timeouts\""))
        let text = Self.whole.replacingCharacters(in: start.lowerBound..<end.lowerBound, with: "")
        let found = try #require(message(for: text))
        #expect(
            found == "features[1].urls[0] belongs to an authorised feature, and there is no token")
    }
}
