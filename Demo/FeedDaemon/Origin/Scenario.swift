// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTesting

/// The faults of the embedded origin during a run, in their order.
///
/// Each fault waits until the daemon has recovered from the one before it, so the scenario takes
/// longer on a slow machine, and shows the same.
struct Scenario: Sendable {
    let origin: EmbeddedOrigin
    let seen = SeenFindings()
    private let stream: EventStream
    private let endsDaemon: Bool

    init(origin: EmbeddedOrigin, stream: EventStream, endsDaemon: Bool) {
        self.origin = origin
        self.stream = stream
        self.endsDaemon = endsDaemon
    }

    /// Runs until the end, which may end the daemon, or until the task is cancelled.
    func play() async {
        do {
            try await seen.wait(for: .chunks)
            try await revokeToken()
            try await rush()
            try await losePrimary()
            try await dropArtwork()
            try await overload()
            guard endsDaemon else {
                return stream.note("origin", "has no more faults, and answers until a signal")
            }
            stream.send(.stop(reason: "the scenario is over"))
        } catch is CancellationError {
            // The daemon ends.
        } catch {
            stream.send(.stop(reason: "the origin failed: \(error)"))
        }
    }

    private func revokeToken() async throws {
        try await pause()
        stream.note("origin", "revokes the token that it issued")
        origin.incidents.revocation.open()
        try await seen.wait(for: .tokenRenewed)
    }

    private func rush() async throws {
        try await pause()
        stream.note("origin", "answers a request for the catalogue with 429, Retry-After: 1")
        origin.incidents.rush.request()
        try await seen.wait(for: .gateHeld)
    }

    /// Takes the primary server down in the middle of a download, and brings it back.
    private func losePrimary() async throws {
        try await pause()
        origin.incidents.cut.request()
        try await origin.incidents.cut.happened()
        // Until here the half was sent; now the client reads it.
        try await Task.sleep(for: .milliseconds(100))
        let address = "127.0.0.1:\(origin.primary.port)"
        stream.note("origin", "loses its primary server, \(address), in the middle of the archive")
        origin.primary.goDown(resettingConnections: true)
        try await seen.wait(for: .failover)
        try await seen.wait(for: .resumed)
        try await pause()
        stream.note("origin", "has its primary server again")
        try origin.primary.comeUp()
        try await seen.wait(for: .backAgain)
    }

    /// Drops a feature while half of a picture has arrived, and waits until its socket is closed.
    private func dropArtwork() async throws {
        try await pause()
        guard let connection = try await origin.hang() else { return }
        stream.note("artwork", "is dropped while half of a picture has arrived")
        let dropped = ContinuousClock.now
        stream.send(.drop(feature: "artwork"))
        try await origin.closed(connection)
        stream.send(.socketClosed(feature: "artwork", after: .now - dropped))
        stream.send(.revive(feature: "artwork"))
    }

    private func overload() async throws {
        try await pause()
        stream.note("origin", "answers a request for artwork with 503, Retry-After: 1")
        origin.incidents.overload.request()
        try await origin.incidents.overload.happened()
        try await Task.sleep(for: .seconds(2))
    }

    /// Leaves time to read what was printed.
    private func pause() async throws {
        try await Task.sleep(for: .milliseconds(500))
    }
}
