// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Why a load could not be authorised, with the error that an authoriser or its fetch threw.
///
/// ```swift
/// do {
///     _ = try await loader.response(for: request)
/// } catch DataLoaderError.cannotAuthenticate(let reason) {
///     print(reason, "because of", reason.underlyingError as Any)
/// }
/// ```
/// Two are equal when their descriptions are.
public struct AuthenticationFailure: Hashable, Sendable, CustomStringConvertible {
    /// One reference, so that errors stay small.
    private final class Storage: Sendable {
        let description: String
        let underlyingError: (any Error)?

        init(_ description: String, _ underlyingError: (any Error)?) {
            self.description = description
            self.underlyingError = underlyingError
        }
    }

    private let storage: Storage

    /// Makes a failure.
    public init(_ description: String, underlyingError: (any Error)? = nil) {
        storage = Storage(description, underlyingError)
    }

    /// The authoriser and the reason in words.
    ///
    /// An error of the library's is named; one of your own is named by its type, as what it says may be
    /// secret.
    public var description: String { storage.description }

    /// What the authoriser, or its fetch, threw; nil when there was no error.
    public var underlyingError: (any Error)? { storage.underlyingError }

    /// Whether both have the same description.
    public static func == (left: Self, right: Self) -> Bool {
        left.description == right.description
    }

    /// Hashes the description.
    public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

extension AuthenticationFailure: ExpressibleByStringInterpolation {
    /// Makes a failure without an error.
    public init(stringLiteral description: String) { self.init(description) }
}

extension AuthenticationFailure: CustomDebugStringConvertible {
    /// The description in quotation marks.
    public var debugDescription: String { description.debugDescription }
}

extension AuthenticationFailure {
    /// What is said about an error that an authoriser of a name gave.
    init(_ identifier: String, because error: any Error) {
        let known: String? =
            (error as? AuthorisationError).map { "\($0)" }
            ?? (error as? DataLoaderError).map { "\($0)" }
        // What an error of somebody else's says may be secret.
        let reason = known.map { ": \($0)" } ?? " refused: \(type(of: error))"
        self.init(identifier + reason, underlyingError: error)
    }
}
