// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoading
import DataLoadingTesting
import Foundation
import Synchronization
import Testing

// The samples in the articles about observing, shutting down and streams.

final class ByteCounter: ConsumptionObserver {
    private let counts = Mutex<[String: Int64]>([:])

    func endedRequest(
        with response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64
    ) {
        let source = response.request.sourceIdentifier ?? "-"
        counts.withLock { $0[source, default: 0] += bytesDownloaded + bytesUploaded }
    }

    func bytes(of source: String) -> Int64 { counts.withLock { $0[source] ?? 0 } }
}

extension SocketTests {
    /// The samples of guides that need a socket.
    @Suite struct GuideSocketSamples {
        private func head(_ request: DataLoaderRequest, _ loader: DataLoader) async throws -> Data?
        {
            let chunks = loader.chunks(for: request).makeAsyncIterator()
            let head = try await chunks.response()
            guard head.statusCode == .ok else { return nil }
            return try await chunks.next()
        }

        @Test func `the samples of guides count bytes, read a head and shut down`() async throws {
            let server = try LoopbackServer { _ in .ok("news") }
            defer { server.stop() }
            let service = DataLoaderService()
            let (counter, queue) = (ByteCounter(), DispatchQueue(label: "count"))
            service.addConsumptionObserver(counter, on: queue)
            let loader = service.makeFactory().makeDataLoader()
            let request = DataLoaderRequest(url: server.url("/feed"))
            #expect(try await head(request, loader) == Data("news".utf8))
            let left = await service.shutDown(gracePeriod: .seconds(5))
            if !left.isEmpty { print("blocked:", left) }
            queue.sync {}
            #expect(counter.bytes(of: "-") > 100)
        }
    }
}
