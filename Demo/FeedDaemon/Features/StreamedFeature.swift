// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// A feature that takes bodies piece by piece, as they arrive.
final class StreamedFeature: Feature {
    let plan: FeedConfiguration.Feature
    let loader: DataLoader
    private let wire: Wire

    init(_ plan: FeedConfiguration.Feature, factory: DataLoaderFactory, wire: Wire) {
        self.plan = plan
        self.wire = wire
        loader = factory.makeDataLoader()
        loader.delegate = self
    }

    func request(for url: URL) -> DataLoaderRequest {
        var request = DataLoaderRequest(url: url, sourceIdentifier: plan.name)
        request.chunks = true
        return request
    }
}

extension StreamedFeature: DataLoaderDelegate {
    func dataLoaderShouldSupportChunks(_ dataLoader: DataLoader) -> Bool { true }

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveDataChunk data: Data,
        forResponse response: DataLoaderResponse
    ) {
        // Whatever is slow here slows the server down: the library reads no further meanwhile.
        wire.send(.chunk(feature: plan.name))
    }

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveSuccessfulResponse response: DataLoaderResponse
    ) {
        // The stream is over; the next refresh asks for what came since.
    }

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveErrorResponse response: DataLoaderResponse
    ) {
        // What came before the end was handed over, so the library does not ask for it again; this
        // feature does, after its interval.
    }
}
