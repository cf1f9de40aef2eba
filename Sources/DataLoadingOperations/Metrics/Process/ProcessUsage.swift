// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What the process uses, by the system's account.
struct ProcessUsage: Hashable, Sendable {
    /// User and system time in seconds.
    let processorTime: Double
    /// Resident memory in bytes.
    let residentMemory: Int64
    /// The start in seconds since the Unix epoch.
    let startTime: Double
    let openDescriptors: Int64
    /// Nil for no limit.
    let maxDescriptors: Int64?

    func visit(_ visitor: any MetricVisitor) {
        let numbers: [(MetricFamily, MetricNumber?)] = [
            (.processorTime, .real(processorTime)),
            (.residentMemory, .whole(residentMemory)),
            (.openDescriptors, .whole(openDescriptors)),
            (.maxDescriptors, maxDescriptors.map { .whole($0) }),
            (.startTime, .real(startTime)),
        ]
        for case (let family, let number?) in numbers {
            visitor.begin(family)
            visitor.add(number, NoLabels())
        }
    }
}
