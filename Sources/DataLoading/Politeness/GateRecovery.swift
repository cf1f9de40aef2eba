// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Limits how fast an unlimited key starts loads after its gate: 10 a second, doubled each second.
///
/// It ends after 10 s. It keeps all waiting loads from reaching a recovering server at once. The
/// start is low enough for a small server. The last rate, 5,120 a second, holds back no more than
/// the concurrency limits do.
enum GateRecovery {
    private static let first = 10.0
    private static let steps = 10
    private static let rates = (0..<steps).map {
        GCRA.Rate(requestsPerSecond: first * Double(1 << $0))
    }

    /// The rate at an instant; nil when the recovery is over.
    ///
    /// Daemons that share a gate divide the rate among them.
    static func rate(at now: Instant, gate: Instant, daemons: Int = 1) -> GCRA.Rate? {
        let elapsed = max(.zero, now - gate).components.seconds
        guard elapsed < Int64(steps) else { return nil }
        guard daemons > 1 else { return rates[Int(elapsed)] }
        return GCRA.Rate(requestsPerSecond: first * Double(1 << elapsed) / Double(daemons))
    }

    /// The instant after which another rate holds: the next whole second, or the first of all.
    static func change(after now: Instant, gate: Instant) -> Instant {
        guard now > gate else { return gate + .seconds(1) }
        return gate + .seconds((now - gate).components.seconds + 1)
    }

    /// The start of the load after `position` others, if the first may start at `start`.
    static func start(
        position: Int, from start: Instant, gate: Instant, daemons: Int = 1
    ) -> Instant {
        let begin = max(0, (start - gate).inSeconds)
        var elapsed = begin
        var remaining = Double(max(0, position))
        while remaining > 0, elapsed < Double(steps) {
            let step = elapsed.rounded(.down)
            let rate = first * Double(1 << Int(step)) / Double(max(1, daemons))
            let slots = max(1, ((step + 1 - elapsed) * rate).rounded(.up))
            elapsed += min(slots, remaining) / rate
            remaining -= slots
        }
        return start + .saturating(seconds: elapsed - begin)
    }
}
