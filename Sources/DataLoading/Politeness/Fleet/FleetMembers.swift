// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The number of daemons that share a rate, and of those that reach the store.
struct FleetMembers: Sendable {
    private enum Stage: Sendable {
        /// No heartbeat was answered.
        case unknown
        /// One was, at an instant: the others may not have had the time to send theirs.
        case first(FleetView, at: Instant)
        case usual(FleetView)
    }

    private static let range = 1...1_000_000

    private let expected: Int
    private var stage = Stage.unknown
    /// How many were known before the store was lost; until they have had the time to come back.
    private var before: (known: Int, until: Instant)?

    /// Expects a number of daemons until heartbeats tell.
    init(expected: Int) {
        self.expected = min(max(expected, Self.range.lowerBound), Self.range.upperBound)
    }

    /// The number among whom the rate is divided.
    var known: Int { max(told, before?.known ?? 0) }

    private var told: Int {
        switch stage {
        case .unknown: expected
        case .first(let view, _): max(view.known, view.present, expected)
        case .usual(let view): max(view.known, view.present)
        }
    }

    /// The number of those that reach the store.
    var present: Int {
        switch stage {
        case .unknown: 1
        case .first(let view, _), .usual(let view): view.present
        }
    }

    /// The part of the rate that those who reach the store may use; the others use the rest.
    var portion: Double { Double(present) / Double(known) }

    /// Notes that a store that was lost is back, before what it tells is noted.
    ///
    /// It may have been away for longer than it remembers daemons, or know nothing any more, and those that
    /// it does not know yet use their own shares.
    mutating func storeIsBack(at now: Instant) {
        if case .unknown = stage { return }
        // A store that is lost again and again does not keep alive who has gone.
        if let before, now < before.until { return }
        before = (told, now + FleetPause.gatheringLength)
    }

    /// Notes the answer to a heartbeat.
    mutating func saw(_ view: FleetView, at now: Instant) {
        func limited(_ number: Int) -> Int {
            min(max(number, Self.range.lowerBound), Self.range.upperBound)
        }
        let view = FleetView(present: limited(view.present), known: limited(view.known))
        if let before, before.until <= now { self.before = nil }
        stage =
            switch stage {
            case .unknown: .first(view, at: now)
            case .first(_, let first) where now - first < FleetPause.heartbeat * 0.75:
                .first(view, at: first)
            case .first, .usual: .usual(view)
            }
    }
}
