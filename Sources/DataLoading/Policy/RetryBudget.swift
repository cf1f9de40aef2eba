// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// How many retries each origin is still worth: tokens, without a clock.
///
/// First attempts are never held back. An origin whose budget is full takes no memory.
package final class RetryBudget: Sendable {
    /// What a retry takes, and gets back when it succeeds.
    package enum Cost: Int, Hashable, Sendable {
        /// After 429 or 503: the server is alive, and says so.
        case throttled = 5
        /// After anything else that may be retried.
        case transient = 14
    }

    /// A peer that redirects to ever new origins must not fill the memory.
    private static let mostOrigins = 10_000

    private let capacity: Int?
    private let tokens = Locked<[Origin: Int]>([:])

    /// Makes the budgets of a service; nil or less than zero tokens: no limit, or no retry at all.
    package init(_ configuration: RetryConfiguration) {
        capacity = configuration.budget.map { max(0, $0) }
    }

    /// Takes the cost of a retry; false when there is not enough.
    package func withdraw(_ cost: Cost, for origin: Origin) -> Bool {
        guard let capacity else { return true }
        return tokens.withLock { tokens in
            let rest = (tokens[origin] ?? capacity) - cost.rawValue
            guard rest >= 0 else { return false }
            if tokens.count >= Self.mostOrigins { Self.forgetTheFullest(in: &tokens) }
            tokens[origin] = rest
            return true
        }
    }

    /// Gives back the cost of a retry that succeeded.
    package func refund(_ cost: Cost, for origin: Origin) {
        add(cost.rawValue, for: origin)
    }

    /// Notes a load that succeeded at once.
    package func noteCleanSuccess(for origin: Origin) {
        add(1, for: origin)
    }

    /// The tokens an origin has; nil when there is no limit.
    package func balance(of origin: Origin) -> Int? {
        guard let capacity else { return nil }
        return tokens.withLock { $0[origin] ?? capacity }
    }

    /// The number of origins that take memory.
    package var busyOrigins: Int { tokens.withLock { $0.count } }

    private func add(_ amount: Int, for origin: Origin) {
        guard let capacity else { return }
        tokens.withLock { tokens in
            guard !tokens.isEmpty, let old = tokens[origin] else { return }
            tokens[origin] = old + amount < capacity ? old + amount : nil
        }
    }

    private static func forgetTheFullest(in tokens: inout [Origin: Int]) {
        let poorest = tokens.sorted { $0.value < $1.value }.prefix(mostOrigins / 2)
        tokens = Dictionary(uniqueKeysWithValues: poorest.map { ($0.key, $0.value) })
    }
}
