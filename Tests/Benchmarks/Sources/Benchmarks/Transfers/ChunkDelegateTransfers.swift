// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation
import Synchronization

/// DataLoading with a delegate that receives chunks; a delegate has no pace.
final class ChunkDelegateTransfers: TransferClient {
    private let service: DataLoaderService
    private let delivery: DataLoader.Delivery

    init(streams: Int, delivery: DataLoader.Delivery) {
        service = ChunkTransfers.makeService(streams: streams)
        self.delivery = delivery
    }

    func download(_ url: String, _ pace: Pace?) async throws -> Int {
        guard pace == nil else { throw Complaint("a delegate has no pace") }
        var request = try ChunkTransfers.request(url)
        request.chunks = true
        return try await perform(request)
    }

    func upload(_ file: String, of size: Int, to url: String) async throws {
        var request = try ChunkTransfers.request(url)
        request.method = .post
        request.body = .file(URL(fileURLWithPath: file))
        _ = try await perform(request)
    }

    private func perform(_ request: DataLoaderRequest) async throws -> Int {
        let delegate = ChunkCounter()
        let loader = service.makeFactory().makeDataLoader(delegate: delegate, delivery: delivery)
        return try await delegate.count { loader.perform(request) }
    }
}

/// Counts the bytes of one load.
private final class ChunkCounter: DataLoaderChunkDelegate {
    private struct State {
        var count = 0
        var continuation: CheckedContinuation<Int, any Error>?
    }

    private let state = Mutex(State())

    /// Starts the load and returns the size of its body.
    func count(_ start: () -> Void) async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            state.withLock { $0.continuation = continuation }
            start()
        }
    }

    private func end(with error: (any Error)?) {
        let (count, continuation) = state.withLock { ($0.count, $0.continuation.take()) }
        if let error {
            continuation?.resume(throwing: error)
        } else {
            continuation?.resume(returning: count)
        }
    }

    func dataLoaderShouldSupportChunks(_ dataLoader: DataLoader) -> Bool { true }

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveInitialResponse response: DataLoaderResponse
    ) {}

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveDataChunk data: Data,
        forResponse response: DataLoaderResponse
    ) {
        state.withLock { $0.count += data.count }
    }

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveSuccessfulResponse response: DataLoaderResponse
    ) {
        end(with: nil)
    }

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveErrorResponse response: DataLoaderResponse
    ) {
        end(with: response.error ?? Complaint("a load failed"))
    }

    func dataLoader(_ dataLoader: DataLoader, didCancelRequest request: DataLoaderRequest) {}
}
