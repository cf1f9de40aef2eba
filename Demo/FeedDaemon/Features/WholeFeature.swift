// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// A feature that wants whole bodies.
final class WholeFeature: Feature {
    let plan: FeedConfiguration.Feature
    let loader: DataLoader

    init(_ plan: FeedConfiguration.Feature, factory: DataLoaderFactory) {
        self.plan = plan
        loader = factory.makeDataLoader()
        loader.delegate = self
    }

    func request(for url: URL) -> DataLoaderRequest {
        // The name is what the consumption observer tells features apart by.
        DataLoaderRequest(url: url, sourceIdentifier: plan.name)
    }
}

extension WholeFeature: DataLoaderDelegate {
    func dataLoader(
        _ dataLoader: DataLoader, didReceiveSuccessfulResponse response: DataLoaderResponse
    ) {
        // A real feature decodes `response.body` here; what it cost, the observer tells.
    }

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveErrorResponse response: DataLoaderResponse
    ) {
        // It keeps what it has and asks again after its interval; the observer tells of the failure.
    }
}
