// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTesting

/// A fault that the origin produces once, after the scenario has requested it.
struct Incident: Sendable {
    private let requested = LoopbackGate()
    private let done = LoopbackGate()

    /// Makes the next response that fits produce the fault.
    func request() { requested.open() }

    /// Whether the next response should produce the fault.
    var isDue: Bool { requested.isOpen && !done.isOpen }

    /// The step of a response that marks the fault as produced.
    var happens: LoopbackStep { .open(done) }

    /// Returns when the fault was produced, or throws when the task is cancelled.
    func happened() async throws {
        await done.opened()
        try Task.checkCancellation()
    }
}
