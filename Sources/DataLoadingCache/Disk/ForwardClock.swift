// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// A wall clock that never goes back: where the machine's own does, it continues with the
/// monotonic one.
///
/// The ages of responses that other processes have stored count on it. A clock that jumps ahead
/// makes them older, which costs a validation; one that goes back would make them younger.
struct ForwardClock: Sendable {
    private var last: CacheMoment?

    /// The moment with the wall time of this clock.
    mutating func moment(_ now: CacheMoment) -> CacheMoment {
        guard let last else {
            self.last = now
            return now
        }
        let elapsed = max(now.monotonic - last.monotonic, .zero).wholeNanoseconds / 1_000_000
        let moment = CacheMoment(
            wall: max(now.wall, last.wall.addingSaturated(elapsed)),
            monotonic: max(now.monotonic, last.monotonic))
        // Rounding down must not lose time at each step.
        if now.wall >= moment.wall || elapsed >= 1_000 { self.last = moment }
        return CacheMoment(wall: moment.wall, monotonic: now.monotonic)
    }
}
