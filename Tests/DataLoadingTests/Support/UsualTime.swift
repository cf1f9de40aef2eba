// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTesting

/// How long something usually takes, and how long the machine takes for similar work.
///
/// A time limit applies to what the library adds, and a busy machine delays everything. The time of
/// a plain socket between the rounds of the library tells how slow the machine is.
struct UsualTime: Sendable, CustomStringConvertible {
    /// The median of all rounds, which shows a delay in every second round.
    let time: Duration
    /// The median of the plain sockets' rounds.
    let machine: Duration

    /// Whether the limit is kept, with room for a few times what the machine itself needs.
    func keeps(_ promise: Duration) -> Bool {
        time < promise * patience + machine * 4
    }

    var description: String { "\(time), a plain socket \(machine)" }
}

/// Runs a scene several times, each followed by a connection of a plain socket.
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

/// The time until a server sees the end of a connection without the library.
func timeOfPlainSocket() async throws -> Duration {
    let server = try LoopbackServer { _ in .ok() }
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    _ = try client.get()
    let begun = ContinuousClock.now
    client.disconnect()
    await server.waitForClosedConnections(1)
    return ContinuousClock.now - begun
}

/// Whether a scene in real time succeeds at its pace or at a pace four or sixteen times slower.
///
/// A busy machine may exceed limits that are short for the test; a fault of the library shows at
/// any pace.
func unhurried(_ play: (_ pace: Int) async throws -> Bool) async rethrows -> Bool {
    for pace in [1, 4, 16] where try await play(pace) { return true }
    return false
}
