// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The place of one stored response: its URL has several when requests choose between variants.
package struct CachePlace: Hashable, Sendable {
    private let key: CacheKey
    private let variant: VariantKey

    package init(_ key: CacheKey, _ variant: VariantKey) {
        self.key = key
        self.variant = variant
    }
}
