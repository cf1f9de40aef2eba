// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport

/// What the endpoint tells; called on its thread.
struct EndpointContent: Sendable {
    let exposition: @Sendable (_ accept: String?) -> Exposition
    let health: @Sendable () async -> Health
    /// What the service does, in JSON.
    let snapshot: @Sendable () -> [UInt8]
    let dashboard: EndpointDashboard?
}

/// The page of a dashboard, and what it shows.
struct EndpointDashboard: Sendable {
    let feed: any LiveFeed
    let page: EndpointResponse
}

/// What a path leads to.
enum EndpointResource {
    case metrics
    case health
    case readiness
    case snapshot
    case events(any LiveFeed)
    case page(EndpointResponse)

    init?(_ path: Substring, _ dashboard: EndpointDashboard?) {
        switch (path, dashboard) {
        case ("/metrics", _): self = .metrics
        case ("/healthz", _): self = .health
        case ("/readyz", _): self = .readiness
        case ("/snapshot", _): self = .snapshot
        case ("/events", let dashboard?): self = .events(dashboard.feed)
        case ("/", let dashboard?): self = .page(dashboard.page)
        default: return nil
        }
    }

    func needsToken(protectsMetrics: Bool) -> Bool {
        switch self {
        case .snapshot, .events: true
        case .metrics: protectsMetrics
        // A supervisor has no token, and the page holds no data.
        case .health, .readiness, .page: false
        }
    }
}
