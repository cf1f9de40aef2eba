// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

extension MetricVisitor {
    /// Adds how rates are shared with other daemons.
    func add(_ sharing: SharingState) {
        begin(.fleetMembers)
        add(.whole(Int64(sharing.known)), NoLabels())
        begin(.fleetShared)
        add(.whole(sharing.source == .store ? 1 : 0), NoLabels())
        begin(.fleetRefused)
        add(.whole(Int64(sharing.refused)), NoLabels())
        begin(.fleetSlotsLeased)
        add(.whole(sharing.leased), NoLabels())
        begin(.fleetSlotsUsed)
        add(.whole(sharing.used), NoLabels())
    }
}
