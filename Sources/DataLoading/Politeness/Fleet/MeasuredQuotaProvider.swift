// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import DataLoadingSupport

/// A provider that measures the operations of its store.
package protocol MeasuredQuotaProvider: QuotaProvider {
    /// The store as OpenTelemetry names it, such as "redis".
    var storeSystem: String { get }
    /// The operations since the beginning.
    var storeOperations: StoreOperations { get }
}

extension RateLimiter {
    /// What rates are, or were, shared through, if it measures; else nil.
    package var measuredProvider: (any MeasuredQuotaProvider)? {
        provider as? any MeasuredQuotaProvider
    }
}
