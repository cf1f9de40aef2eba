// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation
import Testing

@testable import FeedDaemon

@Suite struct SessionAuthoriserTests {
    @Test func `many loads share one token, and one new one when it is refused`() async throws {
        let revocation = LoopbackGate()
        let server = try LoopbackServer { request in
            let token = revocation.isOpen ? "second" : "first"
            if request.path == "/token" { return .ok(.text(token)) }
            return request.headers["Authorization"] == "Bearer " + token ? .ok() : .status(401)
        }
        defer { server.stop() }
        let service = Self.service()
        let authoriser = SessionAuthoriser(
            tokenURL: server.url("/token"), loader: service.makeFactory().makeDataLoader(),
            wire: Wire())
        let loader = service.makeFactory(authorisers: [authoriser]).makeDataLoader()
        for _ in 0..<2 {
            let statuses = try await withThrowingTaskGroup(of: HTTPStatus.self) { group in
                for number in 0..<20 {
                    let request = DataLoaderRequest(url: server.url("/\(number)"))
                    group.addTask { try await loader.response(for: request).statusCode }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == Array(repeating: .ok, count: 20))
            revocation.open()
        }
        #expect(server.requests.filter { $0.path == "/token" }.count == 2)
        await service.shutDown(gracePeriod: .zero)
    }

    @Test func `nobody but the origin of the token sees it`() throws {
        let tokenURL = try #require(URL(string: "http://a.test/token"))
        let authoriser = SessionAuthoriser(
            tokenURL: tokenURL, loader: DataLoaderService().makeFactory().makeDataLoader(),
            wire: Wire())
        for (text, isMeant) in [
            ("http://a.test/x", true), ("http://b.test/x", false), ("https://a.test/x", false),
            ("http://a.test:81/x", false), ("http://a.test.b.test/", false),
        ] {
            let request = DataLoaderRequest(url: try #require(URL(string: text)))
            #expect(authoriser.requiresAuthorisation(request) == isMeant)
        }
    }

    @Test func `a token that is not to be had fails all who wait for it, with one fetch`()
        async throws
    {
        let server = try LoopbackServer { _ in .status(500) }
        defer { server.stop() }
        let service = Self.service()
        let authoriser = SessionAuthoriser(
            tokenURL: server.url("/token"), loader: service.makeFactory().makeDataLoader(),
            wire: Wire())
        let loader = service.makeFactory(authorisers: [authoriser]).makeDataLoader()
        let request = DataLoaderRequest(url: server.url())
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    await #expect(throws: DataLoaderError.self) {
                        try await loader.response(for: request)
                    }
                }
            }
        }
        #expect(server.requestCount == 1)
        await service.shutDown(gracePeriod: .zero)
    }

    /// The authoriser's task may wait long for a thread while other tests compute.
    private static func service() -> DataLoaderService {
        var configuration = DataLoaderService.Configuration()
        configuration.timeouts.total = .seconds(600)
        return DataLoaderService(configuration: configuration)
    }
}
