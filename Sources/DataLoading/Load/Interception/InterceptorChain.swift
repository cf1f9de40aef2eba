// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The interceptors of a factory, and the number of loads that they hold.
final class InterceptorChain: Sendable {
    let interceptors: [any Interceptor]
    private let limit: Int
    private let held = Locked(0)

    /// Makes the chain; nil without interceptors.
    init?(_ interceptors: [any Interceptor], _ limits: Limits) {
        guard !interceptors.isEmpty else { return nil }
        self.interceptors = interceptors
        // As many as may wait for a slot or have one.
        let (limit, overflows) = limits.queue.addingReportingOverflow(limits.total)
        self.limit = overflows ? .max : limit
    }

    /// Counts a load in; false when too many are held.
    func enter() -> Bool {
        guard held.add(1) <= limit else {
            leave()
            return false
        }
        return true
    }

    /// Counts a load out, once its interceptors have returned.
    func leave() { held.add(-1) }
}
