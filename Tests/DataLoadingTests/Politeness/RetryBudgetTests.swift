// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Testing

@Suite struct RetryBudgetTests {
    private let origin = Origin(isSecure: true, host: "a.test", port: 443)

    private func budget(_ tokens: Int? = 500) -> OriginHealth {
        var configuration = RetryConfiguration()
        configuration.budget = tokens
        return OriginHealth(configuration)
    }

    @Test(arguments: [(RetryCost.transient, 35), (.throttled, 100)])
    func `an outage gets a fixed number of retries from the budget`(
        cost: RetryCost, retries: Int
    ) {
        let budget = budget()
        var granted = 0
        while budget.withdraw(cost, for: origin) { granted += 1 }
        #expect(granted == retries)
        #expect(!budget.withdraw(cost, for: origin))
    }

    @Test func `a successful retry is free, and a clean success adds one token up to the capacity`()
    {
        let budget = budget()
        #expect(budget.withdraw(.transient, for: origin))
        #expect(budget.balance(of: origin) == 486)
        budget.refund(.transient, for: origin)
        #expect(budget.balance(of: origin) == 500)
        #expect(budget.busyOrigins == 0)
        #expect(budget.withdraw(.throttled, for: origin))
        for expected in [496, 497, 498, 499, 500, 500] {
            budget.noteCleanSuccess(for: origin)
            #expect(budget.balance(of: origin) == expected)
        }
        #expect(budget.busyOrigins == 0)
    }

    @Test func `the largest retry budget is a limit like any other`() {
        let budget = budget(.max)
        #expect(budget.withdraw(.transient, for: origin))
        budget.noteCleanSuccess(for: origin)
        budget.refund(.transient, for: origin)
        #expect(budget.balance(of: origin) == .max)
        #expect(budget.busyOrigins == 0)
    }

    @Test func `origins do not share a retry budget`() {
        let budget = budget(14)
        let other = Origin(isSecure: false, host: "a.test", port: 443)
        #expect(budget.withdraw(.transient, for: origin))
        #expect(!budget.withdraw(.throttled, for: origin))
        #expect(budget.withdraw(.transient, for: other))
    }

    @Test func `a nil retry budget is unlimited, and zero or less allows no retries`() {
        let unlimited = budget(nil)
        for _ in 0..<1_000 { #expect(unlimited.withdraw(.transient, for: origin)) }
        #expect(unlimited.balance(of: origin) == nil)
        #expect(unlimited.busyOrigins == 0)
        #expect(!budget(0).withdraw(.throttled, for: origin))
        #expect(!budget(-9).withdraw(.throttled, for: origin))
    }

    @Test func `ever new origins take bounded memory, and the poorest budgets are kept`() {
        let budget = budget()
        while budget.withdraw(.transient, for: origin) {}
        for index in 0..<25_000 {
            let other = Origin(isSecure: true, host: "h\(index).test", port: 443)
            _ = budget.withdraw(.transient, for: other)
        }
        #expect(budget.busyOrigins <= 10_000)
        #expect(!budget.withdraw(.transient, for: origin))
    }

    @Test func `concurrent withdrawals never take more than the budget holds`() {
        let budget = budget()
        let granted = Locked(0)
        DispatchQueue.concurrentPerform(iterations: 1_000) { _ in
            if budget.withdraw(.throttled, for: origin) { granted.withLock { $0 += 1 } }
        }
        #expect(granted.withLock { $0 } == 100)
    }

    // Failed retries ≤ (500 + successes) / 5, whatever the order of events.
    @Test func `failed retries are bounded by the budget and the successes`() {
        property { generator in
            let budget = budget()
            var (failed, successes) = (0, 0)
            var pending: [RetryCost] = []
            let healthy = Int.random(in: 0...9, using: &generator)
            for _ in 0..<150 {
                switch Int.random(in: 0..<10, using: &generator) {
                case ..<healthy where Bool.random(using: &generator):
                    successes += 1
                    budget.noteCleanSuccess(for: origin)
                case 0..<7:
                    let cost =
                        Bool.random(using: &generator)
                        ? RetryCost.transient : .throttled
                    if budget.withdraw(cost, for: origin) { pending.append(cost) }
                default:
                    guard let cost = pending.popLast() else { continue }
                    if Int.random(in: 0..<10, using: &generator) < healthy {
                        budget.refund(cost, for: origin)
                    } else {
                        failed += 1
                    }
                }
                guard failed + pending.count <= (500 + successes) / 5 else {
                    return "\(failed) failed, \(pending.count) pending, \(successes) successes"
                }
                let balance = budget.balance(of: origin) ?? -1
                guard (0...500).contains(balance) else { return "balance \(balance)" }
            }
            return nil
        }
    }
}
