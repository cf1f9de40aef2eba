// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTesting

/// What something usually takes, and what the machine takes for the like of it in the same minute.
///
/// A promise of time is about what the library adds, and a busy machine is late with everything. What
/// a plain socket needs, in rounds between those of the library, says how late the machine is.
struct UsualTime: Sendable, CustomStringConvertible {
    /// The median of all rounds: one that is late in every other round is late.
    let time: Duration
    /// The median of the plain sockets' rounds.
    let machine: Duration

    /// Whether a promise is kept, with room for a few times what the machine needs itself.
    func keeps(_ promise: Duration) -> Bool {
        time < promise * patience + machine * 4
    }

    var description: String { "\(time), a plain socket \(machine)" }
}

/// Plays a scene some times, each followed by a connection of a plain socket.
func usually(
    rounds: Int = 5, _ play: () async throws -> Duration
) async throws -> UsualTime {
    var times: [Duration] = []
    var machine: [Duration] = []
    for _ in 0..<rounds {
        times.append(try await play())
        machine.append(try await timeOfPlainSocket())
    }
    return UsualTime(
        time: times.sorted()[rounds / 2], machine: machine.sorted()[rounds / 2])
}

/// How long it takes until a server has seen the end of a connection without the library.
private func timeOfPlainSocket() async throws -> Duration {
    let server = try LoopbackServer { _ in .ok() }
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    _ = try client.get()
    let begun = ContinuousClock.now
    client.disconnect()
    await server.waitForClosedConnections(1)
    return ContinuousClock.now - begun
}

/// Whether a scene in real time comes off: at its pace, or at four or sixteen times as slow a one.
///
/// A busy machine may not keep up with limits that are short for a test's sake; what the library
/// does wrong it does at any pace.
func unhurried(_ play: (_ pace: Int) async throws -> Bool) async rethrows -> Bool {
    for pace in [1, 4, 16] where try await play(pace) { return true }
    return false
}
