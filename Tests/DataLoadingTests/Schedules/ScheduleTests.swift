// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingAuth
@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

extension LongComputations {
    /// Three loads on the real state machine, with events in every order.
    @Suite struct ScheduleTests {
        /// The events of the loads 0, 1 and 2, besides one that is common to all.
        private static let configurations: [[[ScheduleEvent.Kind]]] = {
            let pairs: [[ScheduleEvent.Kind]] = [
                [.grant, .finish], [.grant, .cancel], [.grant, .timeOut], [.finish, .cancel],
                [.cancel, .timeOut], [.finish, .timeOut], [.grant, .retry], [.grant, .redirect],
            ]
            // Each pair is combined with each other pair, beside a load that finishes.
            return pairs.indices.flatMap { first in
                pairs.indices[first...].map { second in
                    [pairs[first], pairs[second], [.grant, .finish]]
                }
            }
        }()

        private static let common: [ScheduleEvent] = [
            ScheduleEvent(.deliver), ScheduleEvent(.reset), ScheduleEvent(.cancelAll),
        ]

        private struct Plan {
            let isAuthorised: Bool
            let events: [ScheduleEvent]
        }

        /// Each configuration with and without an authoriser, and with each common event.
        private static let plans: [Plan] = [true, false].flatMap { isAuthorised in
            common.flatMap { shared in
                configurations.map { kinds in
                    let own = kinds.enumerated().flatMap { load, kinds in
                        kinds.map { ScheduleEvent($0, load: load) }
                    }
                    return Plan(isAuthorised: isAuthorised, events: own + [shared])
                }
            }
        }

        /// The orders of seven events, for 216 configurations: 1,088,640 schedules.
        private static let orders = 5_040

        /// 12,000, or as many as `SCHEDULES` in the environment says, spread over all of them.
        private static let wanted =
            ProcessInfo.processInfo.environment["SCHEDULES"].flatMap { Int($0) } ?? 12_000

        @Test func `each load has one outcome in every schedule of events, and nothing is left`()
            async
        {
            let total = Self.plans.count * Self.orders
            #expect(total >= 1_000_000)
            let count = min(max(1, Self.wanted), total)
            var kinds: Set<String> = []
            for index in 0..<count {
                // A golden section of the total and coprime to it, so that any count is spread evenly.
                let number = index * 672_817 % total
                let plan = Self.plans[number / Self.orders]
                let order = ScheduleEvent.order(number % Self.orders, of: plan.events)
                let isReset = plan.events.contains { $0.kind == .reset }
                let world = ScheduleWorld(isAuthorised: plan.isAuthorised, isReset: isReset)
                guard let fault = await world.play(order) else {
                    kinds.formUnion(world.kinds)
                    continue
                }
                let text = order.map { "\($0)" }.joined(separator: ", ")
                Issue.record("schedule \(number), \(plan.isAuthorised), \(text): \(fault)")
                return
            }
            // The schedules reach every possible outcome.
            #expect(
                kinds == ["success", "timed_out", "cancelled", "reset"] || count < 1_000, "\(kinds)"
            )
        }
    }
}
