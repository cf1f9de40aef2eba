// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport

/// What the dashboard shows of a feature: the loads of one `sourceIdentifier`.
struct FeatureFigures: Sendable {
    struct Failure: Sendable {
        /// The name of the error, which is one of the library's constants.
        let error: String
        let second: Int64
    }

    private(set) var seconds = SecondRing()
    private(set) var minute = MinuteFigures()
    private(set) var lastFailure: Failure?

    mutating func add(_ load: EndedLoad, bytes: Int64, in second: Int64) {
        let isFailure = load.outcome == .failure
        seconds.add(
            SecondRing.Sums(loads: 1, failures: isFailure ? 1 : 0, bytes: bytes), in: second)
        minute.add(load, in: second)
        if let error = load.error { lastFailure = Failure(error: error, second: second) }
    }
}
