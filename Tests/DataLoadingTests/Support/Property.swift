// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTesting
import Foundation
import Testing

/// Checks a property on seeded cases: 10,000, or as many as `PROPERTY_CASES` in the environment says.
///
/// The property returns nil when it holds and what it found otherwise; the first failure ends the
/// run and prints the seed of its case, which `seed` with `cases: 1` repeats.
func property(
    cases: Int = propertyCases, seed: UInt64 = 20_260_101,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: (inout SeededGenerator) throws -> String?
) rethrows {
    for index in 0..<cases {
        let caseSeed = seed &+ UInt64(index)
        var generator = SeededGenerator(seed: caseSeed)
        guard let failure = try body(&generator) else { continue }
        Issue.record("seed \(caseSeed): \(failure)", sourceLocation: sourceLocation)
        return
    }
}

/// The number of cases for each property.
let propertyCases =
    ProcessInfo.processInfo.environment["PROPERTY_CASES"].flatMap { Int($0) } ?? 10_000

/// A duration in milliseconds, for tables of expectations.
func ms(_ milliseconds: Int64) -> Duration { .milliseconds(milliseconds) }
