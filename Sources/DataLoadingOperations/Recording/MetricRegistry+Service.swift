// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

extension MetricRegistry {
    /// Adds what the service itself counts; the registry does not keep it.
    func observe(_ service: DataLoaderService) {
        add { [weak service] visitor in
            guard let service else { return }
            visitor.begin(.observerDropped)
            visitor.add(
                .whole(Int64(service.droppedConsumptionNotices)), DropLabels(signal: .notices))
        }
    }
}
