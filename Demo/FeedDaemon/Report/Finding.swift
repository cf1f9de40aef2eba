// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting

/// One thing that a run of the demo shows; each is a line of the report.
enum Finding: String, CaseIterable {
    case rateKept = "rate kept"
    case gateHeld = "gate held"
    case failover
    case resumed
    case backAgain = "back again"
    case tokenRenewed = "401 recovered"
    case chunks
    case dropped
}

/// Which findings were made so far; the scenario waits for them.
struct SeenFindings: Sendable {
    private let gates: [Finding: LoopbackGate] = .init(
        uniqueKeysWithValues: Finding.allCases.map { ($0, LoopbackGate()) })

    func add(_ finding: Finding) {
        gates[finding]?.open()
    }

    /// Returns when the finding was made, or throws when the task is cancelled.
    func wait(for finding: Finding) async throws {
        await gates[finding]?.opened()
        try Task.checkCancellation()
    }
}
