// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The stage of a service, which decides whether loads may start.
enum ServiceStage: Sendable {
    case open
    /// Only authorisers may start loads, for the loads that run.
    case closing
    case over
}

/// What decides whether loads may start, behind one lock, because every load looks at it.
struct Openness: Sendable {
    var stage = ServiceStage.open
    /// Whether a reset of the service keeps loads from starting.
    var isResetting = false
    /// Whether the service no longer shares rates.
    var hasLeftFleet = false
}
