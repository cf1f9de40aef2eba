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
