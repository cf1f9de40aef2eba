// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// Notices from outside when a server's `Retry-After` holds a feature's loads back.
struct GateWatch {
    /// Something about a gate changed.
    enum Change: Hashable {
        case closed(feature: String, for: Duration)
        case opened(feature: String)
    }

    private let limiter: RateLimiter
    private var held: Set<String> = []

    init(limiter: RateLimiter) {
        self.limiter = limiter
    }

    /// How long a load that is asked for now would wait for its slot, others before it not counted.
    func wait(for feature: FeedConfiguration.Feature) -> Duration {
        feature.urls.map { wait(for: $0) }.max() ?? .zero
    }

    func isHeld(_ feature: FeedConfiguration.Feature) -> Bool { held.contains(feature.name) }

    /// Looks at a feature, and answers when its gate closed or opened since the last look.
    mutating func look(at feature: FeedConfiguration.Feature) -> Change? {
        let wait = wait(for: feature)
        // By its rate alone nobody waits longer than the space between two requests.
        let spacing =
            feature.urls.map { url in
                limiter.requestsPerSecond(for: url).map { Duration.seconds(1 / max($0, 0.001)) }
                    ?? .zero
            }.max() ?? .zero
        if wait > spacing + .milliseconds(50) {
            return held.insert(feature.name).inserted
                ? .closed(feature: feature.name, for: wait) : nil
        }
        if wait <= spacing, held.remove(feature.name) != nil {
            return .opened(feature: feature.name)
        }
        return nil
    }

    private func wait(for url: URL) -> Duration {
        limiter.earliestTimeUntilRequestCanBeExecuted(DataLoaderRequest(url: url))
    }
}
