// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

extension DataLoader.Delivery {
    /// The delivery of loaders in tests that hold in every form: the default, or what
    /// `DATALOADING_DELIVERY` says, `direct` or `queue`.
    static let ofTests: DataLoader.Delivery =
        switch ProcessInfo.processInfo.environment["DATALOADING_DELIVERY"] {
        case "direct": .direct
        case "queue": .queue
        default: .automatic
        }
}
