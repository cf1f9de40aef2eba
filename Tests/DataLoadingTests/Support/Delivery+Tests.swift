// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

extension DataLoader.Delivery {
    /// The delivery of loaders in tests that hold in every form: on the queue, or what
    /// `DATALOADING_DELIVERY=direct` says.
    static let ofTests: DataLoader.Delivery =
        ProcessInfo.processInfo.environment["DATALOADING_DELIVERY"] == "direct" ? .direct : .queue
}
