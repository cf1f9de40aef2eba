// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
@testable import DataLoadingOperations
import DataLoadingSupport
import Foundation

/// The endpoint of a daemon that can go down and come up again on its port.
final class DashboardServer: Sendable {
    private let feed: any LiveFeed
    private let token: String
    private let port: UInt16
    private let server: Locked<EndpointServer?>

    init(_ feed: any LiveFeed, token: String) throws {
        self.feed = feed
        self.token = token
        let first = try Self.listen(on: 0, feed, token)
        server = Locked(first)
        port = first.port ?? 0
    }

    var url: URL { testURL("http://127.0.0.1:\(port)/") }

    func goDown() { server.withLock { $0.take() }?.stop() }

    func comeUp() throws {
        let next = try Self.listen(on: port, feed, token)
        server.withLock { $0 = next }
    }

    private static func listen(
        on port: UInt16, _ feed: any LiveFeed, _ token: String
    ) throws -> EndpointServer {
        var endpoint = OperationsEndpoint.loopback(port: port, token: token)
        endpoint.servesDashboard = true
        let content = EndpointContent(
            exposition: { _ in Exposition(.make(), accepting: nil) },
            health: { Health(isLive: true, isReady: true, reasons: []) },
            snapshot: { feed.snapshot() },
            dashboard: EndpointDashboard(feed: feed, page: DashboardPage.response))
        return try EndpointServer(endpoint, content, timekeeper: SystemTimekeeper())
    }
}
