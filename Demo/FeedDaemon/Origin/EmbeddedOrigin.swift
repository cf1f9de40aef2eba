// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingAuth
import DataLoading
import DataLoadingTesting
import Foundation

/// The origin that the demo loads from: one host with two servers on the loopback interface.
///
/// The host is localhost, the only one to which a token may be sent without https. The resolver maps
/// it to the ports of the servers.
final class EmbeddedOrigin: Sendable {
    static let host = "localhost"

    let incidents = OriginAnswers.Incidents()
    let primary: LoopbackServer
    private let fallback: LoopbackServer
    private let hangs: AsyncStream<Int>

    /// Starts both servers.
    init(_ stream: EventStream) throws {
        let provider = OriginProvider(incidents: incidents, stream: stream)
        let (hangs, hang) = AsyncStream<Int>.makeStream()
        let answers = [true, false].map { [incidents] isPrimary in
            OriginAnswers(
                incidents: incidents, provider: provider, isPrimary: isPrimary, stream: stream
            ) { hang.yield($0) }
        }
        // Only the newest connections are needed, and a run may be long.
        var configuration = LoopbackServer.Configuration()
        configuration.recordLimit = 100
        primary = try LoopbackServer(configuration) { answers[0].answer($0) }
        fallback = try LoopbackServer(configuration) { answers[1].answer($0) }
        self.hangs = hangs
    }

    func stop() {
        primary.stop()
        fallback.stop()
    }

    /// What the daemon loads from here; the archive is saved in a directory.
    func configuration(directory: URL) -> FeedConfiguration {
        typealias Feature = FeedConfiguration.Feature
        var configuration = FeedConfiguration()
        configuration.features = [
            Feature(
                name: "catalogue", urls: urls("/catalogue/index", "/catalogue/news"),
                interval: .milliseconds(400), isAuthorised: true),
            // More than its rate, so that its loads always wait.
            Feature(
                name: "thumbnails", urls: urls("/thumbnails/1", "/thumbnails/2", "/thumbnails/3"),
                interval: .milliseconds(50)),
            Feature(
                name: "artwork", urls: urls("/artwork/1", "/artwork/2"),
                interval: .milliseconds(500)),
            Feature(
                name: "events", urls: urls("/events/live"), interval: .milliseconds(700),
                body: .chunks, isAuthorised: true),
            Feature(
                name: "archive", urls: urls("/archive"), interval: .milliseconds(1_500),
                body: .file(directory.appending(path: "archive.tar"))),
        ]
        configuration.defaultRate = 20
        configuration.rates = zip(urls("/catalogue", "/thumbnails", "/artwork"), [10, 8, 10]).map {
            FeedConfiguration.Rate(url: $0, requestsPerSecond: $1)
        }
        configuration.addresses = [
            Self.host: ["127.0.0.1:\(primary.port)", "127.0.0.1:\(fallback.port)"]
        ]
        // The default, half a minute, is longer than the run.
        configuration.ejection = (.milliseconds(500), .seconds(1))
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
    func hang() async throws -> Int? {
        incidents.hang.request()
        try await incidents.hang.happened()
        return await hangs.first { _ in true }
    }

    /// Returns when the client has closed a connection; throws when the task is cancelled.
    func closed(_ connection: Int) async throws {
        while primary.connections.first(where: { $0.number == connection })?.isOpen == true {
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    private func urls(_ paths: String...) -> [URL] { paths.map(url) }

    private func url(_ path: String) -> URL {
        URL(string: "http://\(Self.host)\(path)") ?? primary.url(path)
    }
}
