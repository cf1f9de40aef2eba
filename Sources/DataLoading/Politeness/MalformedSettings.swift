// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// The malformed settings of one object, by the key they concern, or by text without a valid key.
struct MalformedSettings<Key: Hashable & Sendable>: Sendable {
    private var byKey: [Key: DataLoaderError] = [:]
    private var unattributable: [String: DataLoaderError] = [:]

    var isEmpty: Bool { byKey.isEmpty && unattributable.isEmpty }

    /// Any of the errors, those without a valid key first.
    var first: DataLoaderError? { unattributable.values.first ?? byKey.values.first }

    /// The error that concerns loads of the keys: one set for a key, or any without a valid key.
    func concerning(_ keys: Key...) -> DataLoaderError? {
        unattributable.values.first ?? keys.lazy.compactMap { byKey[$0] }.first
    }

    /// Records the error of a key's setting; nil after a valid one.
    mutating func set(_ fault: DataLoaderError?, for key: Key) { byKey[key] = fault }

    /// Records the error of a text that is not a key; nil after it was withdrawn.
    mutating func set(_ fault: DataLoaderError?, forText text: String) {
        unattributable[text] = fault
    }
}
