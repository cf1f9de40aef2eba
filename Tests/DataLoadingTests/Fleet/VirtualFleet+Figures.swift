// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting

extension VirtualFleet {
    /// The number of admissions in each piece of a time, from an instant on.
    func counts(from start: Instant, every length: Duration, _ pieces: Int) -> [Int] {
        var counts = [Int](repeating: 0, count: pieces)
        for admission in admissions {
            let place = (admission.at - start.nanoseconds).floorDivided(by: length.wholeNanoseconds)
            if counts.indices.contains(place) { counts[place] += 1 }
        }
        return counts
    }

    /// The most admissions in any window of a length.
    func most(in length: Duration, from start: Instant = Instant(nanoseconds: 0)) -> Int {
        let times = admissions.map(\.at).filter { $0 >= start.nanoseconds }
        var most = 0
        var first = 0
        for last in times.indices {
            while times[last] - times[first] >= length.wholeNanoseconds { first += 1 }
            most = max(most, last - first + 1)
        }
        return most
    }

    /// What each daemon has started since an instant.
    func shares(from start: Instant) -> [Int] {
        var shares = [Int](repeating: 0, count: daemons.count)
        for admission in admissions where admission.at >= start.nanoseconds {
            shares[admission.daemon] += 1
        }
        return shares
    }
}

extension Int64 {
    fileprivate func floorDivided(by other: Int64) -> Int {
        self < 0 ? -1 : Int(self / other)
    }
}
