// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The options of a request.
package struct RequestOptions: Sendable {
    private struct Stored: Sendable {
        let value: any Sendable
        let staysWithOrigin: Bool
    }

    private var stored: [ObjectIdentifier: Stored] = [:]
    /// Whether a redirect has led to another origin, and nothing is known of one that led back.
    package private(set) var haveLeftOrigin = false

    package init() {}

    /// Whether no option was set; most requests have none.
    package var isEmpty: Bool { stored.isEmpty }

    package subscript<Option: RequestOption>(option: Option.Type) -> Option.Value {
        get {
            // Hashing and a cast cost more than all else here.
            guard !isEmpty, let found = stored[ObjectIdentifier(option)] else {
                return Option.defaultValue
            }
            return found.value as? Option.Value ?? Option.defaultValue
        }
        set {
            stored[ObjectIdentifier(option)] = Stored(
                value: newValue, staysWithOrigin: option.staysWithOrigin)
        }
    }

    /// Whether any option was set but one.
    package func hasOthers(than option: any RequestOption.Type) -> Bool {
        stored.keys.contains { $0 != ObjectIdentifier(option) }
    }

    /// Removes the options that belong to one origin.
    package mutating func leaveOrigin() {
        haveLeftOrigin = true
        stored = stored.filter { !$0.value.staysWithOrigin }
    }
}
