// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading

extension RateLimiter {
    /// Takes a slot as an admission with no lock does.
    func reserve(_ key: RuleKey) -> Reservation {
        var hasOrders = false
        defer { if hasOrders { carryOutOrders() } }
        return reserve(key, hasOrders: &hasOrders)
    }
}
