// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A logarithmic axis that has room for all of some values above zero.
struct LogarithmicAxis {
    private let low: Double
    private let high: Double

    init(_ values: [Double]) {
        let logarithms = values.filter { $0 > 0 }.map(log10)
        low = logarithms.min() ?? 0
        high = logarithms.max() ?? 1
    }

    /// Where a value lies, from 0 to 1, with a margin at both ends.
    func share(of value: Double) -> Double {
        let width = max(high - low, 0.1)
        return 0.03 + 0.94 * (log10(max(value, pow(10, low))) - low) / width
    }

    /// Round values on the axis: powers of ten, and steps between them on a short axis.
    var ticks: [Double] {
        let width = high - low
        let steps: [Double] =
            width > 2.5 ? [1] : width > 0.8 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 7, 8]
        let powers = Int(floor(low))...Int(ceil(high))
        let slack = 0.03 * max(width, 0.1)
        return powers.flatMap { power in steps.map { $0 * pow(10, Double(power)) } }
            .filter { (low - slack...high + slack).contains(log10($0)) }
    }
}
