// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport

/// The choice of the loads and attempts that have a line in an access log.
struct LogSampling: Sendable {
    private let keepsOneIn: UInt64
    private let keepsSlowerThan: Duration

    init(keepsOneIn: Int, keepsSlowerThan: Duration) {
        self.keepsOneIn = UInt64(max(1, keepsOneIn))
        self.keepsSlowerThan = keepsSlowerThan
    }

    init(_ log: AccessLog) {
        self.init(keepsOneIn: log.keepsOneIn, keepsSlowerThan: log.keepsSlowerThan)
    }

    /// Whether a load has a line.
    func keeps(_ response: DataLoaderResponse, bytesMoved: Bool) -> Bool {
        guard keepsOneIn > 1, response.figures.totalTime < keepsSlowerThan else { return true }
        switch OutcomeWord(response.error) {
        case .failure: return true
        case .cancelled where bytesMoved: return true
        case .cancelled, .success: return isChosen(response.figures.load)
        }
    }

    /// Whether an attempt has a line: one of a chosen load, and one that failed or was slow.
    func keeps(_ attempt: AttemptRecord) -> Bool {
        guard keepsOneIn > 1, attempt.ended - attempt.begun < keepsSlowerThan else { return true }
        if attempt.errorType != nil { return true }
        // Only a cancelled one has an error that is none.
        if attempt.error != nil, attempt.report.bytesMoved { return true }
        // One that loads share has a number of its own.
        return isChosen(attempt.reportedLoad ?? attempt.context.load)
    }

    /// Whether a hash of the number of a load is divisible: the mixer of SplitMix64.
    ///
    /// The number itself would choose the same load of each round of a daemon that has as many
    /// loads in a round as one of which it keeps.
    private func isChosen(_ load: Int64) -> Bool {
        var hash = UInt64(bitPattern: load) &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        return (hash ^ (hash >> 31)).isMultiple(of: keepsOneIn)
    }
}
