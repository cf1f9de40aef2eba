// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// One series of a histogram: counts, their sum, and an example for each bucket.
struct HistogramCell: Sendable {
    /// The bounds in nanoseconds, smallest first; a value belongs to the first that is not smaller.
    let bounds: [Int64]
    /// The number of values in each bucket; the last one is above all bounds.
    private(set) var counts: [Int64]
    /// The last sampled value of each bucket.
    private(set) var exemplars: [Exemplar?]
    /// The sum in nanoseconds: whole numbers add up exactly.
    private(set) var sum: Int64 = 0

    init(bounds: [Int64]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
        exemplars = Array(repeating: nil, count: bounds.count + 1)
    }

    /// Makes a series that another has counted; `counts` has one number more than there are bounds.
    init(bounds: [Int64], counts: [Int64], sum: Int64) {
        self.init(bounds: bounds)
        for (bucket, count) in zip(self.counts.indices, counts) { self.counts[bucket] = count }
        self.sum = sum
    }

    /// The number of all values.
    var count: Int64 { counts.reduce(0) { $0.addingSaturated($1) } }

    /// Adds a value; a negative one counts as zero.
    mutating func add(nanoseconds: Int64, _ sample: Exemplar.Sample? = nil) {
        let value = max(0, nanoseconds)
        let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
        counts[bucket].addSaturated(1)
        sum.addSaturated(value)
        if let sample { exemplars[bucket] = Exemplar(sample: sample, nanoseconds: value) }
    }

    /// Adds the values of another series, whose bounds are the same.
    mutating func add(_ other: HistogramCell) {
        for (bucket, count) in zip(counts.indices, other.counts) {
            counts[bucket].addSaturated(count)
        }
        for (bucket, exemplar) in zip(exemplars.indices, other.exemplars) {
            guard let exemplar else { continue }
            if let own = exemplars[bucket], own.sample.time > exemplar.sample.time { continue }
            exemplars[bucket] = exemplar
        }
        sum.addSaturated(other.sum)
    }
}
