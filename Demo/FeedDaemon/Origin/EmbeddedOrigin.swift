// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation

/// The origin that the daemon brings along: one host, two addresses, on the loopback interface.
///
/// Its host name exists nowhere; only the resolver's addresses lead to it.
final class EmbeddedOrigin: Sendable {
    static let host = "feed.example"
    static let panorama = "/artwork/panorama"

    let incidents = OriginAnswers.Incidents()
    let primary: LoopbackServer
    private let primaryAnswers: OriginAnswers
    private let fallback: LoopbackServer

    /// Starts both servers.
    init() throws {
        let answers = OriginAnswers(incidents: incidents)
        primaryAnswers = answers
        primary = try LoopbackServer { answers.answer($0) }
        let others = OriginAnswers(incidents: incidents)
        fallback = try LoopbackServer { others.answer($0) }
    }

    func stop() {
        primary.stop()
        fallback.stop()
    }

    /// What a daemon loads from here.
    ///
    /// - Parameter length: How long the scenario takes.
    func configuration(for length: Duration) -> FeedConfiguration {
        var configuration = FeedConfiguration()
        configuration.features = [
            feature("catalogue", ["/catalogue/index", "/catalogue/news"], every: .milliseconds(400)),
            feature(
                "artwork", ["/artwork/1", "/artwork/2", "/artwork/3", Self.panorama],
                every: .milliseconds(500)),
            feature("events", ["/events/live"], every: .milliseconds(700)),
        ]
        configuration.features[0].isAuthorised = true
        configuration.features[2].isAuthorised = true
        configuration.features[2].isStreamed = true
        configuration.defaultRate = 20
        configuration.rates = [
            FeedConfiguration.Rate(url: url("/catalogue"), requestsPerSecond: 10),
            // Less than the feature asks for, so that its loads queue.
            FeedConfiguration.Rate(url: url("/artwork"), requestsPerSecond: 6),
        ]
        configuration.addresses = [
            Self.host: ["127.0.0.1:\(primary.port)", "127.0.0.1:\(fallback.port)"]
        ]
        // Half a minute, the default, is longer than the run.
        configuration.ejection = (length / 20, length / 10)
        configuration.credential = .session(url("/session/token"))
        return configuration
    }

    /// The connection on which a picture was left unfinished.
    func hungConnection() -> HungConnection? {
        let server = primaryAnswers.hungHere.isOpen ? primary : fallback
        // A feature asks for a picture once at a time, so the last request is the unfinished one.
        let request = server.requests.last { $0.path == Self.panorama }
        return request.map { HungConnection(server: server, number: $0.connection) }
    }

    private func feature(
        _ name: String, _ paths: [String], every interval: Duration
    ) -> FeedConfiguration.Feature {
        FeedConfiguration.Feature(name: name, urls: paths.map(url), interval: interval)
    }

    private func url(_ path: String) -> URL {
        var parts = URLComponents()
        parts.scheme = "http"
        parts.host = Self.host
        parts.path = path
        return parts.url ?? primary.url(path)
    }
}

/// A connection as its server sees it.
struct HungConnection: Sendable {
    let server: LoopbackServer
    let number: Int

    /// Returns when the server has seen the client close it; throws when the task is cancelled.
    func closed() async throws {
        while server.connections.first(where: { $0.number == number })?.isOpen == true {
            try await Task.sleep(for: .milliseconds(1))
        }
    }
}
