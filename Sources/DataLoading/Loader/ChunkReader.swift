// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Reads one load's chunks for a task: starts it when asked first, cancels it when dropped.
final class ChunkReader: Sendable {
    private enum State: Sendable {
        case unstarted
        case started(Exchange, PulledChunks)
    }

    private let request: DataLoaderRequest
    private weak let loader: DataLoader?
    private let state = Locked(State.unstarted)

    init(request: DataLoaderRequest, loader: DataLoader?) {
        self.request = request
        self.loader = loader
    }

    deinit {
        if case .started(let exchange, _) = state.withLock({ $0 }) { exchange.cancel() }
    }

    func response() async throws -> DataLoaderResponse {
        let (exchange, chunks) = try start()
        return try await withTaskCancellationHandler {
            try await chunks.response()
        } onCancel: {
            exchange.cancel()
        }
    }

    func next() async throws -> Data? {
        let (exchange, chunks) = try start()
        return try await withTaskCancellationHandler {
            try await chunks.next(from: exchange)
        } onCancel: {
            exchange.cancel()
        }
    }

    private func start() throws -> (Exchange, PulledChunks) {
        if case .started(let exchange, let chunks) = state.withLock({ $0 }) {
            return (exchange, chunks)
        }
        guard let loader, !Task.isCancelled else { throw DataLoaderError.cancelled }
        let chunks = PulledChunks(queue: loader.queue)
        let exchange = loader.start(request, chunks)
        let earlier = state.withLock { state -> (Exchange, PulledChunks)? in
            if case .started(let exchange, let chunks) = state { return (exchange, chunks) }
            state = .started(exchange, chunks)
            return nil
        }
        // Two tasks asked for the first piece at once: one load is enough.
        guard let earlier else { return (exchange, chunks) }
        exchange.cancel()
        return earlier
    }
}
