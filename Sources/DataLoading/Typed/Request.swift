// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingSupport
public import DataLoadingTransport
public import Foundation

/// What to load, and how to make a value of the response.
///
/// ```swift
/// extension Request where Value == Person {
///     static func person(_ id: Int) -> Self {
///         Request(Endpoint("people", String(id)))
///     }
/// }
/// ```
/// A caller writes `try await connection.send(.person(42))`. A request for a `Decodable` value
/// needs no more than this. Any other gets a function that makes the value. It sees every status
/// and the body: at the level of HTTP a 404 and a 304 are responses like others.
public struct Request<Value: Sendable>: Sendable, OpaquelyMirrored {
    /// The path and the query below a base URL; nil for a request with a URL of its own.
    public let endpoint: Endpoint?
    private var describe: @Sendable (URL?) throws -> DataLoaderRequest
    private let decode: @Sendable (DataLoaderResponse) throws -> Value

    /// Makes a request with a URL of its own.
    ///
    /// `decode` runs off the caller's actor, and under no lock. What it throws is thrown to who sends the
    /// request, a `DecodingError` as `DataLoaderError.undecodable`.
    public init(
        _ request: DataLoaderRequest,
        decode: @escaping @Sendable (DataLoaderResponse) throws -> Value
    ) {
        endpoint = nil
        describe = { _ in request }
        self.decode = decode
    }

    /// Makes a request for an endpoint, below the base URL of the `Connection` that sends it.
    ///
    /// `decode` runs off the caller's actor, and under no lock. What it throws is thrown to who sends the
    /// request, a `DecodingError` as `DataLoaderError.undecodable`.
    public init(
        _ endpoint: Endpoint, method: HTTPMethod = .get, headers: HTTPHeaders = HTTPHeaders(),
        body: RequestBody? = nil,
        decode: @escaping @Sendable (DataLoaderResponse) throws -> Value
    ) {
        self.endpoint = endpoint
        describe = { baseURL in
            var request = DataLoaderRequest(url: try endpoint.url(relativeTo: baseURL))
            request.method = method
            request.headers = headers
            request.body = body
            return request
        }
        self.decode = decode
    }

    /// The request with a change of what is loaded, such as a timeout or a number of retries.
    ///
    /// The change is made whenever the request is sent, after earlier changes.
    public func modified(
        _ change: @escaping @Sendable (inout DataLoaderRequest) -> Void
    ) -> Self {
        var copy = self
        copy.describe = { [describe] baseURL in
            var request = try describe(baseURL)
            change(&request)
            return request
        }
        return copy
    }

    /// Makes the request that is loaded.
    ///
    /// - Throws: `DataLoaderError.invalidRequest`, when an endpoint has no URL below the base URL.
    public func makeDataLoaderRequest(baseURL: URL? = nil) throws -> DataLoaderRequest {
        try describe(baseURL)
    }

    /// Makes the value of a response of any status.
    ///
    /// - Throws: The error of a load that has no whole response; `DataLoaderError.undecodable` in
    ///   place of a `DecodingError`; any other error as the request's own function throws it.
    public func value(from response: DataLoaderResponse) throws -> Value {
        if let failure = response.failure { throw failure }
        do {
            return try decode(response)
        } catch let error as DecodingError {
            throw response.undecodable(because: error)
        }
    }
}

extension Request: CustomStringConvertible {
    /// The type of the value, and the endpoint without its query.
    public var description: String {
        "Request<\(Value.self)>" + (endpoint.map { " \($0)" } ?? "")
    }
}
