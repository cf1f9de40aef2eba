// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

/// The figures of a feature at an instant.
struct FeatureReport: Sendable {
    /// Nil for the loads that name no feature.
    let name: String?
    let minute: MinuteFigures.Sums
    let lastFailure: FeatureFigures.Failure?
    /// The number of loads of ten minutes, without those of the second that runs.
    private let loads: Int64
    private let rates: (loads: Double, failures: Double, bytes: Int64)
    private let steps: [SecondRing.Sums]
    private let second: Int64

    private static let stepSeconds: Int64 = 10

    private init(_ name: String?, _ figures: FeatureFigures, at second: Int64) {
        self.name = name
        self.second = second
        minute = figures.minute.sums(at: second)
        lastFailure = figures.lastFailure
        rates = figures.seconds.rates(before: second)
        let count = SecondRing.seconds / Self.stepSeconds
        steps = (0..<count).reversed().map { step in
            figures.seconds.sums(of: Self.stepSeconds, before: second - step * Self.stepSeconds)
        }
        loads = steps.reduce(0) { $0.addingSaturated($1.loads) }
    }

    /// Whether a load has ended in the last ten minutes.
    var isBusy: Bool { loads > 0 || minute.loads > 0 }

    /// The reports of all features, the busiest first.
    static func all(
        of features: [String?: FeatureFigures], at second: Int64
    ) -> [FeatureReport] {
        features.map { FeatureReport($0, $1, at: second) }
            .sorted { ($0.loads, $1.name ?? "") > ($1.loads, $0.name ?? "") }
    }

    /// Adds its members to the object that is open.
    func addMembers(to json: inout JSONWriter, now: Date) {
        json.member("name", name)
        json.member("loadsPerSecond", rates.loads)
        json.member("failuresPerSecond", rates.failures)
        json.member("bytesPerSecond", rates.bytes)
        json.key("minute")
        json.object { json in
            json.member("loads", minute.loads)
            json.member("failures", minute.failures)
            json.member("cancelled", minute.cancelled)
            json.member("p50", seconds: minute.times.quantile(0.5))
            json.member("p99", seconds: minute.times.quantile(0.99))
            json.member("slot", seconds: minute.slot)
            json.member("authorisation", seconds: minute.authorisation)
            json.member("backOff", seconds: minute.backOff)
            json.member("total", seconds: minute.total)
        }
        // Ten minutes in steps of ten seconds, oldest first.
        let peak = steps.map(\.bytes).max() ?? 0
        json.member("peak", peak / Self.stepSeconds)
        json.member("bytes", Self.curve(steps.map(\.bytes)))
        let hasFailures = steps.contains { $0.failures > 0 }
        json.member("failures", hasFailures ? Self.curve(steps.map(\.failures)) : nil)
        guard let lastFailure else { return }
        json.member("lastError", lastFailure.error)
        let time = now.timeIntervalSince1970 - Double(second - lastFailure.second)
        json.member("lastErrorTime", time.rounded(.down))
    }

    /// One digit of base 36 for each number: 0 for zero, z for the highest.
    private static func curve(_ numbers: [Int64]) -> String {
        let peak = Double(max(1, numbers.max() ?? 0))
        return numbers.reduce(into: "") { text, number in
            let share = Int((Double(number) / peak * 35).rounded(.up))
            text += String(min(35, max(0, share)), radix: 36)
        }
    }
}
