// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The pauses before the connections of an event stream.
struct Reconnection: Sendable {
    /// The range of a reconnection time that a server sets, and the shortest pause of all.
    ///
    /// The smallest keeps a server from being asked without a pause, whether it asks for none or
    /// the timer begins at zero; the largest is that of `Retry-After`.
    static let range = Duration.milliseconds(100)...Duration.seconds(3_600)

    private var timer: ExponentialTimer
    private var shortest = Duration.zero
    private var connections = 0

    init(_ timer: ExponentialTimer) {
        // Pauses that begin at zero would not grow.
        self.timer =
            timer.initialTime < Self.range.lowerBound
            ? timer.starting(at: Self.range.lowerBound) : timer
    }

    /// The connection is in use: the next pause is the first again.
    mutating func reset() { connections = 0 }

    /// Takes the server's time for the first pause; no later pause is shorter.
    mutating func serverSet(_ time: Duration) {
        shortest = min(max(time, Self.range.lowerBound), Self.range.upperBound)
        timer = timer.starting(at: shortest)
    }

    /// Returns the pause before the next connection.
    mutating func next(using random: RandomSource) -> Duration {
        connections += 1
        let number = connections
        let timer = timer
        let pause = random.withGenerator { timer.pause(beforeRetry: number, using: &$0) }
        // A client that the server asks to wait may wait longer, but not less.
        return max(pause < shortest ? shortest + (shortest - pause) : pause, Self.range.lowerBound)
    }
}
