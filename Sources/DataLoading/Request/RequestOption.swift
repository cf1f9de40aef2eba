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
}
