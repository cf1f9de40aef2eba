// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A typed value that a user, an authoriser or a transport attaches to a request.
///
/// ```swift
/// enum Feature: RequestOption {
///     static let defaultValue: String? = nil
/// }
/// request[option: Feature.self] = "search"
/// ```
public protocol RequestOption {
    /// The type of the value.
    associatedtype Value: Sendable
    /// The value when the option is not set.
    static var defaultValue: Value { get }
    /// Whether a redirect to another origin removes the option; true by default.
    ///
    /// Keep it true for an option that an authoriser turns into a credential: the credential must
    /// not be sent to another origin.
    static var staysWithOrigin: Bool { get }
}

extension RequestOption {
    /// True: a redirect to another origin removes the option.
    public static var staysWithOrigin: Bool { true }
}

/// The options of a request.
package struct RequestOptions: Sendable {
    private struct Stored: Sendable {
        let value: any Sendable
        let staysWithOrigin: Bool
    }

    private var stored: [ObjectIdentifier: Stored] = [:]

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

    /// Whether any option belongs to one origin.
    package var haveOrigin: Bool { stored.contains(where: \.value.staysWithOrigin) }

    /// Removes the options that belong to one origin.
    package mutating func leaveOrigin() {
        stored = stored.filter { !$0.value.staysWithOrigin }
    }
}
