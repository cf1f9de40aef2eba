// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

extension Int {
    /// The number of loops of transports in tests that hold with any number: 1, or what
    /// `DATALOADING_LOOPS` says.
    static let ofTests =
        ProcessInfo.processInfo.environment["DATALOADING_LOOPS"].flatMap { Int($0) } ?? 1
}
