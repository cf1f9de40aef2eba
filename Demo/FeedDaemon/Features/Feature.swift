// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// A part of the program that loads something now and then.
///
/// It owns its loader: when it is dropped, its loads are cancelled and their sockets closed, without
/// a word from anybody.
protocol Feature: AnyObject, Sendable {
    var plan: FeedConfiguration.Feature { get }
    var loader: DataLoader { get }
    /// The request for one of its URLs.
    func request(for url: URL) -> DataLoaderRequest
}

extension Feature {
    /// Asks for every URL that is not being loaded already, so that a slow server is not asked twice.
    func refresh() {
        let running = loader.currentRequests.map(\.url)
        for url in plan.urls where !running.contains(url) { loader.perform(request(for: url)) }
    }

    /// Refreshes once every interval, until the task is cancelled or the feature is dropped.
    func start() -> Task<Void, Never> {
        Task { [weak self, interval = plan.interval] in
            // Nothing keeps the feature alive while this sleeps.
            while !Task.isCancelled, self?.refresh() != nil {
                try? await Task.sleep(for: interval)
            }
        }
    }
}
