// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingSupport

/// The reason why a load could not be authorised.
///
/// ```swift
/// do {
///     _ = try await loader.response(for: request)
/// } catch let error as DataLoaderError {
///     guard case .cannotAuthenticate(let reason) = error.kind else { throw error }
///     print("no access:", reason)
/// }
/// ```
/// It keeps the error that an authoriser or its fetch threw. Two failures are equal when their
/// descriptions are equal.
public struct AuthenticationFailure: Hashable, Sendable, CustomStringConvertible, OpaquelyMirrored {
    /// The stored values; one reference keeps the error enum small.
    private final class Storage: Sendable {
        let description: String
        let underlyingError: (any Error)?

        init(_ description: String, _ underlyingError: (any Error)?) {
            self.description = description
            self.underlyingError = underlyingError
        }
    }

    private let storage: Storage

    /// Makes a failure with a description and the error that caused it.
    public init(_ description: String, underlyingError: (any Error)? = nil) {
        storage = Storage(description, underlyingError)
    }

    /// The name of the authoriser, and the reason.
    ///
    /// An `AuthorisationError` or a `DataLoaderError` is described in full. Any other error is
    /// described by the name of its type, because its own description may be secret.
    public var description: String { storage.description }

    /// The error that the authoriser or its fetch threw; nil when there was none.
    public var underlyingError: (any Error)? { storage.underlyingError }

    /// Whether both have the same description.
    public static func == (left: Self, right: Self) -> Bool {
        left.description == right.description
    }

    /// Hashes the description.
    public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

extension AuthenticationFailure: ExpressibleByStringInterpolation {
    /// Makes a failure without an underlying error.
    public init(stringLiteral description: String) { self.init(description) }
}

extension AuthenticationFailure: CustomDebugStringConvertible {
    /// The description in quotation marks.
    public var debugDescription: String { description.debugDescription }
}
