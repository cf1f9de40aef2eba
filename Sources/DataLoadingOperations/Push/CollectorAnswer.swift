// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What a collector says about a request that it has taken.
struct CollectorAnswer: Decodable {
    private struct Partial: Decodable {
        let rejectedSpans: Count?
        let rejectedDataPoints: Count?
    }

    /// A 64-bit integer, which OTLP's JSON has as a text, and some collectors as a number.
    private struct Count: Decodable {
        let value: Int64

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int64.self) {
                value = number
            } else {
                value = Int64(try container.decode(String.self)) ?? 0
            }
        }
    }

    private let partialSuccess: Partial?

    /// The number of items of a body that a collector has refused, of so many that were sent; none
    /// for a body that says nothing.
    static func rejected(_ body: Data?, of count: Int) -> Int {
        guard let body, !body.isEmpty,
            let answer = try? JSONDecoder().decode(CollectorAnswer.self, from: body),
            let partial = answer.partialSuccess,
            let rejected = partial.rejectedSpans ?? partial.rejectedDataPoints
        else { return 0 }
        return Int(clamping: min(max(0, rejected.value), Int64(count)))
    }
}
