// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Retries cost no more than the budget, whatever the results and the number of loads.
@Suite struct RetryBudgetPropertyTests {
    @Test func `retries never spend more than the budget holds and gets back`() {
        property(cases: propertyCases / 10) { generator in
            var configuration = RetryConfiguration()
            configuration.budget = [0, 13, 14, 100, 500].randomElement(using: &generator) ?? 500
            let budget = OriginHealth(configuration)
            let planner = RetryPlanner(
                configuration: configuration, originHealth: budget,
                random: RandomSource(SeededGenerator(seed: generator.next())))
            let origin = Origin(isSecure: false, host: "a.test", port: 80)
            var request = DataLoaderRequest(url: URL(filePath: "/"))
            request.maximumRetryCount = Int.random(in: 0...6, using: &generator)
            // The tokens that are left according to the model; the budget must never hold more.
            var left = configuration.budget ?? 0
            let health = Int.random(in: 0...3, using: &generator)
            for _ in 0..<Int.random(in: 1...120, using: &generator) {
                var retries = 0
                var lastCost: RetryCost?
                while true {
                    if Int.random(in: 0..<4, using: &generator) < health {
                        if let lastCost {
                            budget.refund(lastCost, for: origin)
                            left += lastCost.rawValue
                        } else if retries == 0 {
                            budget.noteCleanSuccess(for: origin)
                            left += 1
                        }
                        left = min(left, configuration.budget ?? 0)
                        break
                    }
                    let ends: [FinishedAttempt.End] = [
                        .failure(.connectRefused, .nothingWritten),
                        .response(ResponseHead(status: .serviceUnavailable)),
                        .response(ResponseHead(status: .internalServerError)),
                    ]
                    let end = ends.randomElement(using: &generator) ?? ends[0]
                    let decision = planner.decide(
                        after: FinishedAttempt(end, mayBeSentTwice: true),
                        RetryPlanner.Circumstances(
                            retries: retries, request: request, origin: origin, remaining: nil,
                            date: Date(timeIntervalSince1970: 0)))
                    guard case .retry(_, let cost) = decision else { break }
                    guard let cost else { return "a retry that costs nothing" }
                    left -= cost.rawValue
                    guard left >= 0 else { return "\(-left) tokens more than there were" }
                    retries += 1
                    lastCost = cost
                }
                let balance = budget.balance(of: origin) ?? 0
                guard balance == left else { return "\(balance) tokens, not \(left)" }
            }
            return nil
        }
    }
}
