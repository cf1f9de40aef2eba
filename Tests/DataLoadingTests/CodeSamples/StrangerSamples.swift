// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoading

@testable import DataLoadingCurl
import DataLoadingTesting
import Foundation
import Testing

// An authoriser, an observer and a transport as a package that uses the library would write them.

final class CookieAuthoriser: Authoriser {
    func authorise(_ request: DataLoaderRequest) -> Authorisation {
        guard request.url.scheme == "https", request.url.host() == "shop.example.com",
            request.url.port ?? 443 == 443
        else { return .unchanged }
        var authorised = request
        authorised.headers["Cookie"] = "session=secret"
        return .use(authorised)
    }
}

final class LoadCounter: ConsumptionObserver {
    private let lock = NSLock()
    nonisolated(unsafe) private var loads = 0

    var count: Int { lock.withLock { loads } }

    func endedRequest(
        with response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64
    ) {
        lock.withLock { loads += 1 }
    }
}

struct TracingTransport: Transport {
    let base: any Transport
    let trace: @Sendable (String) -> Void

    func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
        trace("\(attempt)")
        return base.start(attempt, sink: sink)
    }

    func reset() async { await base.reset() }

    func shutDown() async { await base.shutDown() }

    var wrapped: (any Transport)? { base }
}

@Suite struct StrangerSamples {
    private let url = testURL("https://shop.example.com/cart")

    @Test func `the samples of an authoriser and an observer pass their checks`() async throws {
        let authoriser = CookieAuthoriser()
        let observer = LoadCounter()
        // All tests begin at once, and a task may wait for its turn longer than the usual limit.
        let limit = Duration.seconds(60)
        try await checkAuthoriser(authoriser, for: DataLoaderRequest(url: url), limit: limit)
        try await checkObserver(observer, limit: limit, counting: { observer.count })
    }

    /// The calls as the documentation shows them.
    private func check() async throws {
        let authoriser = CookieAuthoriser()
        let observer = LoadCounter()
        try await checkAuthoriser(authoriser, for: DataLoaderRequest(url: url))
        try await checkObserver(observer, counting: { observer.count })
    }
}

#if os(Linux)
    extension SocketTests {
        /// The sample that needs a socket.
        @Suite struct StrangerSocketSamples {
            @Test func `the sample of a transport passes its check`() async throws {
                let transport = TracingTransport(base: CurlTransport(), trace: { _ in })
                try await checkTransport(transport)
            }
        }
    }
#endif
