// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Pumps a lane when its next slot is due.
final class LaneCall: TimerTarget {
    private let admission: Admission
    private let key: LaneKey

    init(admission: Admission, key: LaneKey) {
        self.admission = admission
        self.key = key
    }

    func timerFired(_ tag: Int) {
        admission.laneIsDue(key)
    }
}
