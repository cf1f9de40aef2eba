// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A value of a histogram's bucket, with the span in which it was measured.
struct Exemplar: Hashable, Sendable {
    /// The sampled span of a value, and when it ended.
    struct Sample: Hashable, Sendable {
        /// The first half of the trace's identity.
        let traceHigh: UInt64
        let traceLow: UInt64
        let spanID: UInt64
        /// The nanoseconds since the Unix epoch.
        let time: Int64
    }

    let sample: Sample
    let nanoseconds: Int64
}
