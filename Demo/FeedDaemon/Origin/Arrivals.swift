// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// How many requests arrived, and how fast.
struct Arrivals {
    private var count = 0
    private var times: (first: ContinuousClock.Instant, last: ContinuousClock.Instant)?
    /// Those of the last second.
    private var recent: [ContinuousClock.Instant] = []
    private var mostInASecond = 0

    mutating func add(_ instant: ContinuousClock.Instant) {
        count += 1
        times = (times?.first ?? instant, instant)
        recent.removeAll { instant - $0 >= .seconds(1) }
        recent.append(instant)
        mostInASecond = max(mostInASecond, recent.count)
    }

    /// The first request is counted from, as it needs no space before it.
    var text: String {
        guard let times, count > 1 else { return "requests: \(count)" }
        let length = times.last - times.first
        let rate = Double(count - 1) / max(length.seconds, 0.001)
        return "requests: \(count) in \(length.text(decimals: 1)), \(rate.figure) a second, "
            + "at most \(mostInASecond) within a second"
    }
}
