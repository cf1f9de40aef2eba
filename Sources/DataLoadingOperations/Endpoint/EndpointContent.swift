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
    /// What the dashboard shows, and its page; nil without one.
    let feed: (any LiveFeed)?
    let page: EndpointResponse?
}

/// What a path leads to.
enum EndpointResource {
    case metrics
    case health
    case readiness
    case snapshot
    case events
    case page

    init?(_ path: Substring, hasDashboard: Bool) {
        switch path {
        case "/metrics": self = .metrics
        case "/healthz": self = .health
        case "/readyz": self = .readiness
        case "/snapshot": self = .snapshot
        case "/events" where hasDashboard: self = .events
        case "/" where hasDashboard: self = .page
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
