// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// Notices when a server's `Retry-After` holds a feature back, by what the rate limiter says.
struct GateWatch {
    private let limiter: RateLimiter
    private var held: Set<String> = []

    init(limiter: RateLimiter) {
        self.limiter = limiter
    }

    /// Returns an event if a feature's gate closed or opened since the last call.
    ///
    /// The next slots of a rate that several daemons share may belong to the others.
    mutating func look(
        at feature: FeedConfiguration.Feature, sharedBy members: Int = 1
    ) -> Event? {
        let (name, wait) = (feature.name, longest(feature) { self.wait(for: $0) })
        // The rate makes the next request wait for the space between two requests at most.
        let factor = members > 1 ? 2 * Double(members) : 1
        let spacing = longest(feature) { url in
            limiter.requestsPerSecond(for: url).map { .seconds(factor / max($0, 0.001)) } ?? .zero
        }
        if wait > spacing + .milliseconds(50) {
            return held.insert(name).inserted ? .held(feature: name, for: wait) : nil
        }
        return wait <= spacing && held.remove(name) != nil ? .released(feature: name) : nil
    }

    private func longest(
        _ feature: FeedConfiguration.Feature, _ time: (URL) -> Duration
    ) -> Duration {
        feature.urls.map(time).max() ?? .zero
    }

    /// How long a new load would wait for its slot, if no other load waited before it.
    private func wait(for url: URL) -> Duration {
        limiter.earliestTimeUntilRequestCanBeExecuted(DataLoaderRequest(url: url))
    }
}
