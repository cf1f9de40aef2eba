// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTesting

/// What happens to the origin during a run, in the order in which it happens.
///
/// Times are parts of its length, so that a short run shows as much as a long one, within limits:
/// `Retry-After` knows no part of a second.
struct Scenario: Sendable {
    let origin: EmbeddedOrigin
    let length: Duration
    let wire: Wire
    private let begun = ContinuousClock.now

    init(origin: EmbeddedOrigin, length: Duration, wire: Wire) {
        self.origin = origin
        self.length = length
        self.wire = wire
    }

    /// Plays it through, or until the task is cancelled.
    func play() async {
        do {
            try await playAll()
        } catch is CancellationError {
            // The daemon ends.
        } catch {
            wire.note("origin", "cannot go on: \(error)")
        }
    }

    private func playAll() async throws {
        try await reach(0.15)
        wire.note("origin", "revokes the token that it gave out")
        origin.incidents.revocation.open()

        try await reach(0.25)
        wire.note("origin", "answers a request for the catalogue with 429, Retry-After: 1")
        origin.incidents.rush.ask()

        try await reach(0.4)
        wire.note("origin", "loses its primary server, 127.0.0.1:\(origin.primary.port)")
        origin.primary.goDown(resettingConnections: true)

        try await reach(0.55)
        wire.note("origin", "has its primary server again")
        try origin.primary.comeUp()

        try await reach(0.7)
        try await dropArtwork()

        try await reach(0.75)
        wire.note("origin", "answers a request for artwork with 503, Retry-After: 1")
        origin.incidents.overload.ask()
    }

    /// Drops a feature while half a picture has arrived, and looks for what becomes of the socket.
    private func dropArtwork() async throws {
        guard let connection = await origin.hang() else { return }
        wire.note("artwork", "is dropped while half a picture has arrived")
        let dropped = ContinuousClock.now
        wire.send(.drop(feature: "artwork"))
        try await connection.closed()
        wire.send(.socketClosed(feature: "artwork", after: .now - dropped))
        wire.send(.revive(feature: "artwork"))
    }

    private func reach(_ part: Double) async throws {
        try await Task.sleep(until: begun + length * part, clock: .continuous)
    }
}
