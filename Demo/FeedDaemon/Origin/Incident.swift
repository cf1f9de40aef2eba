// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTesting

/// Something that the origin does once, after it was asked to.
struct Incident: Sendable {
    private let asked = LoopbackGate()
    private let done = LoopbackGate()

    /// Asks for it; whoever answers the next request that fits does it.
    func ask() { asked.open() }

    /// Whether it was asked for and has not happened yet.
    var isDue: Bool { asked.isOpen && !done.isOpen }

    /// The step that says that it has happened.
    var happens: LoopbackStep { .open(done) }
}
