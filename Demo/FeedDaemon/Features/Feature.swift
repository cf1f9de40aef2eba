// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// A part of the program that loads its URLs once every interval and prints what it received.
///
/// It owns its loader and is its delegate. When it is dropped, its loads are cancelled and their
/// sockets are closed.
final class Feature: Sendable {
    private let plan: FeedConfiguration.Feature
    private let loader: DataLoader
    private let stream: EventStream

    init(_ plan: FeedConfiguration.Feature, loader: DataLoader, stream: EventStream) {
        self.plan = plan
        self.loader = loader
        self.stream = stream
        loader.delegate = self
    }

    /// Refreshes once every interval, until the task is cancelled or the feature is dropped.
    func start() -> Task<Void, Never> {
        Task { [weak self, interval = plan.interval] in
            // This task does not keep the feature while it sleeps.
            while !Task.isCancelled, self?.refresh() != nil {
                try? await Task.sleep(for: interval)
            }
        }
    }

    /// Loads every URL that is not being loaded already, so that a slow server gets no second request.
    private func refresh() {
        let running = loader.currentRequests.map(\.url)
        for url in plan.urls where !running.contains(url) { loader.perform(request(for: url)) }
    }

    private func request(for url: URL) -> DataLoaderRequest {
        // Observers tell features apart by the source identifier.
        var request = DataLoaderRequest(url: url, sourceIdentifier: plan.name)
        switch plan.body {
        case .value: break
        case .chunks: request.chunks = true
        case .file(let file): request.responseSink = .file(file)
        }
        return request
    }
}

extension Feature: DataLoaderChunkDelegate {
    func dataLoaderShouldSupportChunks(_ dataLoader: DataLoader) -> Bool { true }

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveInitialResponse response: DataLoaderResponse
    ) {}

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveDataChunk data: Data,
        forResponse response: DataLoaderResponse
    ) {
        // While this function runs, the library reads only 256 KiB ahead from the server.
        stream.send(.chunk(feature: plan.name))
    }

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveSuccessfulResponse response: DataLoaderResponse
    ) {
        stream.send(.loaded(response.request, summary: response.summary))
    }

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveErrorResponse response: DataLoaderResponse
    ) {
        // The feature keeps what it has and loads again after its interval. The observers report the
        // failure. A stream is not retried by the library once pieces of it were delivered.
    }

    func dataLoader(_ dataLoader: DataLoader, didCancelRequest request: DataLoaderRequest) {}
}
