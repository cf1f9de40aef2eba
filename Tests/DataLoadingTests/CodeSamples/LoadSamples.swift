// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingAuth
import DataLoading
import DataLoadingSupport
import DataLoadingTesting
import Foundation
import Testing

// The samples in the articles about loads and authorisation.

final class FeedReader: DataLoaderDelegate {
    func dataLoader(
        _ dataLoader: DataLoader, didReceiveSuccessfulResponse response: DataLoaderResponse
    ) {
        print(response.request, "has", response.body?.count ?? 0, "bytes")
    }

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveErrorResponse response: DataLoaderResponse
    ) {
        print(response.request, "failed:", response.error?.name ?? "?")
    }

    func dataLoader(_ dataLoader: DataLoader, didCancelRequest request: DataLoaderRequest) {
        print(request, "was cancelled")
    }
}

final class KeyAuthoriser: Authoriser {
    func authorise(_ request: DataLoaderRequest) -> Authorisation {
        guard request.url.scheme == "https", request.url.host == "api.example.com",
            request.url.port ?? 443 == 443
        else { return .unchanged }
        var authorised = request
        authorised.headers["X-Api-Key"] = "key"
        return .use(authorised)
    }
}

/// Compiled but not run, because `shared` belongs to the whole process.
func useShared(_ url: URL) async throws -> DataLoaderResponse {
    let service = DataLoaderService.shared
    let factory = service.makeFactory()
    let loader = factory.makeDataLoader()
    let response = try await loader.response(for: DataLoaderRequest(url: url))
    return response
}

/// Compiled but not run, for the same reason.
func bootstrapShared() throws {
    var configuration = DataLoaderService.Configuration()
    configuration.userAgent = "feeds/1.0"
    configuration.rateLimiter = RateLimiter(defaultRequestsPerSecond: 10)
    configuration.retry.maximumRetryCount = 2
    try DataLoaderService.bootstrap(configuration)
}

/// Loads pages one after another, without waking a thread for any of them.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private func crawl(
    _ pages: [DataLoaderRequest], _ loader: DataLoader, _ service: DataLoaderService,
    index: @escaping @Sendable (DataLoaderResponse) -> Void
) async throws {
    let crawl = Task(executorPreference: service.taskExecutor) {
        for page in pages { index(try await loader.response(for: page)) }
    }
    try await crawl.value
}

@Suite struct LoadSamples {
    @Test func `the samples of authorisers add a token and a key for one host only`() async throws {
        let token = "secret"
        let bed = TestBed(otherwise: .respond(status: 200))
        let service = bed.service
        let authoriser = StaticTokenAuthoriser(token: token, hosts: ["api.example.com"])
        let factory = service.makeFactory(authorisers: [authoriser])
        let keyed = service.makeFactory(authorisers: [KeyAuthoriser()])
        let hosts = [
            "https://api.example.com", "https://other.example.com", "https://api.example.com:8443",
        ]
        for host in hosts {
            _ = try await factory.makeDataLoader().response(for: .make(host: host))
            _ = try await keyed.makeDataLoader().response(for: .make(host: host))
        }
        let sent = bed.transport.attempts.map(\.request.headers)
        #expect(sent.map { $0["Authorization"] } == ["Bearer secret", nil, nil, nil, nil, nil])
        #expect(sent.map { $0["X-Api-Key"] } == [nil, "key", nil, nil, nil, nil])
    }
}

extension SocketTests {
    /// The samples that need a socket.
    @Suite struct LoadSocketSamples {
        private struct Feed: Decodable, Sendable {
            let title: String
        }

        @Test func `the samples of loads read, call and cancel on a real socket`() async throws {
            let server = try LoopbackServer { _ in .ok(#"{"title": "news"}"#) }
            defer { server.stop() }
            let url = server.url("/feed")
            let service = DataLoaderService()
            let factory = service.makeFactory()
            #expect(try await read(DataLoaderRequest(url: url), factory.makeDataLoader()) == 17)
            #expect(try await title(url, factory.makeDataLoader()) == "news")
            cancel(url, factory)
            if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
                let pages = [DataLoaderRequest](repeating: DataLoaderRequest(url: url), count: 3)
                let indexed = Locked(0)
                try await crawl(pages, factory.makeDataLoader(), service) { response in
                    indexed.withLock { $0 += response.body?.count ?? 0 }
                }
                #expect(indexed.withLock { $0 } == 51)
            }
            await service.shutDown(gracePeriod: .seconds(5))
        }

        @Test func `the sample of a stream body makes a stream for each attempt`() async throws {
            let server = try LoopbackServer { .ok(.text($0.text)) }
            defer { server.stop() }
            let service = DataLoaderService()
            var request = DataLoaderRequest(url: server.url())
            request.method = .put
            request.body = .stream(length: 5) { InputStream(data: Data("hello".utf8)) }
            let response = try await service.makeFactory().makeDataLoader().response(for: request)
            #expect(response.body == Data("hello".utf8))
            await service.shutDown(gracePeriod: .seconds(5))
        }

        private func read(_ request: DataLoaderRequest, _ loader: DataLoader) async throws -> Int {
            var size = 0
            for try await chunk in loader.chunks(for: request) {
                size += chunk.count
            }
            return size
        }

        private func title(_ url: URL, _ loader: DataLoader) async throws -> String {
            let feed = try await loader.request(url, sourceIdentifier: "feed")
                .modify { $0.headers["Accept"] = "application/json" }
                .validateStatusCode()
                .responseDecodable(Feed.self)
            return feed.title
        }

        private func cancel(_ url: URL, _ factory: DataLoaderFactory) {
            let reader = FeedReader()
            let loader = factory.makeDataLoader(delegate: reader)
            let token = loader.perform(DataLoaderRequest(url: url, sourceIdentifier: "feed"))
            token.cancel()
        }
    }
}
