// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A fact that a user, an authoriser or a transport attaches to a request.
///
/// ```swift
/// enum Feature: RequestOption {
///     static let defaultValue: String? = nil
/// }
/// request[option: Feature.self] = "search"
/// ```
public protocol RequestOption {
    /// The type of the fact.
    associatedtype Value: Sendable
    /// What a request says that was not told otherwise.
    static var defaultValue: Value { get }
    /// Whether it is forgotten when a redirect leads to another origin; true unless you say so.
    ///
    /// An option that an authoriser turns into a credential must not be applied to another origin.
    static var staysWithOrigin: Bool { get }
}

extension RequestOption {
    /// True.
    public static var staysWithOrigin: Bool { true }
}

/// An option as a request keeps it.
struct StoredOption: Sendable {
    let value: any Sendable
    let staysWithOrigin: Bool
}
