// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingSupport
public import Foundation

/// The reason why a load has no successful response.
///
/// ```swift
/// do {
///     _ = try await loader.response(for: request)
/// } catch DataLoaderError.cancelled {
///     return
/// } catch let error as DataLoaderError {
///     print(error, "because of", error.stopReason?.description ?? "nothing more")
///     if case .rateLimited(let wait) = error.kind { print("try again in", wait) }
/// }
/// ```
/// The `kind` says what failed; a `switch` over it binds the values of a kind. Errors are equal
/// when their kinds are equal, and `catch` compares kinds as well. An error that ended a load has a
/// `context`: the load, the number of its attempts, and its time.
///
/// The description names the request without the query of its URL, the kind, the number of the
/// load, the phase, the attempts, the time, and why there was no further attempt. It has no header,
/// no body and no description of an `underlyingError` from outside the library.
public struct DataLoaderError: Error, Sendable, OpaquelyMirrored {
    /// The facts about an error beyond its kind; most errors inside a load have none.
    package struct Details: Sendable {
        var underlyingError: (any Error)?
        var phase: Phase?
        var stopReason: StopReason?
        var body: Data?
        package var context: Context?
        /// Whether an attempt of the load may have reached a server, whatever the kind says.
        package var mayHaveBeenProcessed = false
    }

    /// The kind of failure.
    public let kind: Kind
    private var details: CopyOnWrite<Details>?

    /// Makes an error of a kind, with the error that caused it.
    public init(_ kind: Kind, underlyingError: (any Error)? = nil) {
        self.kind = kind
        if let underlyingError { details = CopyOnWrite(Details(underlyingError: underlyingError)) }
    }

    /// Makes an error of another kind, with the facts of an error.
    package init(_ kind: Kind, factsOf error: Self) {
        self.kind = kind
        details = error.details
    }

    /// The error that caused this one; nil when there was none.
    ///
    /// It is what an authoriser, the fetch of a token, an interceptor, a sink, a stream or the
    /// provider of a body threw, the error of a decoder, a `LibcurlError`, a `RequestFault`, or an
    /// error of the system.
    public var underlyingError: (any Error)? {
        details?.value.underlyingError
    }

    /// The stage in which the load failed; nil when it is not known, or for a whole response.
    public var phase: Phase? { details?.value.phase }

    /// The reason for making no further attempt.
    ///
    /// It is nil where no retry was considered: the load was ended from outside or by its deadline,
    /// or was refused before it was sent.
    public var stopReason: StopReason? { details?.value.stopReason }

    /// The body of a response whose status is not 200 to 299, or that is `.undecodable`; at most
    /// 64 KiB.
    ///
    /// It is nil for a load in chunks and for an observer.
    public var body: Data? { details?.value.body }

    /// The load that ended with this error; nil for an error of another origin.
    public var context: Context? { details?.value.context }

    /// Whether the server may have acted on the request although the load has no response.
    ///
    /// It counts every attempt of the load: one that could not connect may follow one that was sent.
    public var mayHaveBeenProcessed: Bool {
        kind.mayHaveBeenProcessed || details?.value.mayHaveBeenProcessed == true
    }

    /// A short name for logs and metrics; it contains nothing of the request.
    public var name: String { kind.name }

    /// Changes the facts beyond the kind.
    package mutating func note(_ change: (inout Details) -> Void) {
        if details == nil { details = CopyOnWrite(Details()) }
        details?.change(change)
    }
}

extension DataLoaderError: Hashable {
    /// Whether both are of the same kind, with the same values.
    public static func == (left: Self, right: Self) -> Bool { left.kind == right.kind }

    /// Hashes the kind.
    public func hash(into hasher: inout Hasher) { hasher.combine(kind) }

    /// Whether both are of the same kind.
    public static func ~= (pattern: Self, error: Self) -> Bool { pattern == error }

    /// Whether any error is a `DataLoaderError` of the same kind, for `catch`.
    public static func ~= (pattern: Self, error: any Error) -> Bool {
        (error as? Self)?.kind == pattern.kind
    }
}

extension DataLoaderError: CustomStringConvertible, LocalizedError {
    /// The request, what failed and why it was not tried again.
    public var description: String {
        let what = ErrorText(self)
        guard let context else { return what.text }
        return "\(context.request) failed: \(what.text)"
    }

    /// The description.
    public var errorDescription: String? { description }
}
