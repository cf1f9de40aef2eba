// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation

/// The origin that the daemon brings along: one host, two addresses, on the loopback interface.
///
/// Its name is localhost, the one host that a token may reach without https; the ports of its servers
/// are the resolver's to know.
final class EmbeddedOrigin: Sendable {
    static let host = "localhost"

    let incidents = OriginAnswers.Incidents()
    let primary: LoopbackServer
    private let fallback: LoopbackServer
    private let hangs: AsyncStream<(isPrimary: Bool, connection: Int)>

    /// Starts both servers, for a run of that length; `note` hears what the origin does by itself.
    init(for length: Duration, note: @escaping @Sendable (String) -> Void) throws {
        let provider = OriginProvider(
            incidents: incidents, patience: length / 20, note: note)
        let (hangs, hang) = AsyncStream<(isPrimary: Bool, connection: Int)>.makeStream()
        let first = OriginAnswers(incidents: incidents, provider: provider) {
            hang.yield((true, $0))
        }
        let second = OriginAnswers(incidents: incidents, provider: provider) {
            hang.yield((false, $0))
        }
        // A run may be long, and only the newest connections are looked at.
        var configuration = LoopbackServer.Configuration()
        configuration.recordLimit = 100
        primary = try LoopbackServer(configuration) { first.answer($0) }
        fallback = try LoopbackServer(configuration) { second.answer($0) }
        self.hangs = hangs
    }

    func stop() {
        primary.stop()
        fallback.stop()
    }

    /// What a daemon loads from here while a scenario of that length is played.
    func configuration(for length: Duration) -> FeedConfiguration {
        var configuration = FeedConfiguration()
        configuration.features = [
            feature(
                "catalogue", ["/catalogue/index", "/catalogue/news"], every: .milliseconds(400)),
            feature(
                "artwork", ["/artwork/1", "/artwork/2", "/artwork/3"], every: .milliseconds(400)),
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
        configuration.credential = .login(login)
        return configuration
    }

    private var login: OAuthConfiguration {
        var endpoints = OAuthEndpoints(token: url("/session/token"))
        endpoints.deviceAuthorization = url("/session/device")
        endpoints.revocation = url("/session/revoke")
        var login = OAuthConfiguration(
            server: .endpoints(endpoints), flow: .deviceCode, clientIdentifier: "FeedDaemon",
            hosts: [Self.host])
        login.allowsPlainLoopback = true
        login.identifier = "session"
        return login
    }

    /// Leaves the next picture unfinished; returns its connection, or nil when the task is cancelled.
    func hang() async -> HungConnection? {
        incidents.hang.ask()
        for await (isPrimary, connection) in hangs {
            return HungConnection(server: isPrimary ? primary : fallback, number: connection)
        }
        return nil
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
