// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingSockets
import DataLoadingSupport
import DataLoadingTesting
import DataLoadingTransport
import Testing

@Suite struct LeaseKeeperTests {
    /// Takes questions, and answers none.
    private final class SilentQuota: ExecutingQuotaProvider {
        var taskExecutor: any TaskExecutor { globalConcurrentExecutor }

        func lease(
            _ request: QuotaRequest,
            answer: @escaping @Sendable (Result<QuotaLease, any Error>) -> Void
        ) {}

        func lease(_ request: QuotaRequest) async throws -> QuotaLease {
            throw CancellationError()
        }

        func close(_ key: QuotaKey, for delay: Duration) async throws {}

        func heartbeat() async throws -> FleetView { FleetView(present: 1, known: 1) }

        func shutDown() async {}
    }

    @Test func `a load that asks for a slot asks once, however often others come and go meanwhile`()
        async throws
    {
        let limiter = RateLimiter(defaultRequestsPerSecond: 1)
        limiter.share(through: SilentQuota(), expectedMembers: 1)
        limiter.adopt(ManualClock().timekeeper)
        let key = limiter.ruleKey(for: try RequestTarget(text: "https://a.test"))
        let rounds = Locked<[Int?]>([])
        let subscription = limiter.subscribe(demand: { _ in
            let count = rounds.withLock { rounds in
                rounds.append(NativeThread.currentNumber)
                return rounds.count
            }
            // One that has come, and is gone before the others are counted.
            if count < 1_000 { _ = limiter.reserve(key) }
            return SlotDemand()
        }) { _ in }
        let own = Locked<Int?>(nil)
        let thread = try NativeThread {
            own.withLock { $0 = NativeThread.currentNumber }
            _ = limiter.reserve(key)
        }
        thread.join()
        await eventually { rounds.withLock(\.count) == 1_000 }
        let number = own.withLock { $0 }
        #expect(rounds.withLock(\.self).count { $0 == number } == 1)
        withExtendedLifetime(subscription) {}
    }
}
