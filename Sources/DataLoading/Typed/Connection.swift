// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingSupport
public import DataLoadingTransport
public import Foundation

/// An API: a loader, the base URL of its endpoints, and the fields that its requests have.
///
/// ```swift
/// let connection = Connection(
///     baseURL: base, headers: ["Accept": "application/json"], loader: loader)
/// let person = try await connection.send(.person(42))
/// ```
/// It retains the loader, and adds nothing to what the loader does: rates, retries and
/// authorisation are those of the loader's service and factory.
public struct Connection: RequestSender, OpaquelyMirrored {
    /// The loader of the requests.
    public let loader: DataLoader
    /// The URL below which the endpoints are; an http or https URL without query and fragment.
    ///
    /// With another URL every request for an endpoint throws `DataLoaderError.invalidRequest`.
    public let baseURL: URL
    /// The fields of requests that have none of the same name; default none.
    ///
    /// A request with a URL of another origin than that of the base URL gets none of them, because
    /// a field may be a secret.
    public var headers: HTTPHeaders
    /// The name of the feature, for requests that have none; default nil.
    public var sourceIdentifier: String?

    /// Makes a connection.
    public init(
        baseURL: URL, headers: HTTPHeaders = HTTPHeaders(), sourceIdentifier: String? = nil,
        loader: DataLoader
    ) {
        self.loader = loader
        self.baseURL = baseURL
        self.headers = headers
        self.sourceIdentifier = sourceIdentifier
    }

    /// Sends a request and returns the value of its response.
    ///
    /// Cancelling the task cancels the load.
    ///
    /// - Throws: `DataLoaderError`, or the error of the request's own function.
    public func send<Value>(_ request: Request<Value>) async throws -> Value {
        try await loader.value(of: request, loading: complete(request))
    }

    /// Makes the request that is loaded, with the fields of the connection.
    func complete<Value>(_ request: Request<Value>) throws -> DataLoaderRequest {
        var whole = try whole(request)
        whole.sourceIdentifier = whole.sourceIdentifier ?? sourceIdentifier
        guard isOurs(whole.url) else { return whole }
        for field in headers.fields where !whole.headers.contains(field.name) {
            // The fields of one name are added together.
            for value in headers.values(for: field.name) {
                whole.headers.add(value, for: field.name)
            }
        }
        return whole
    }

    /// Makes the request, or throws an error that names the connection.
    private func whole<Value>(_ request: Request<Value>) throws -> DataLoaderRequest {
        do {
            return try request.makeDataLoaderRequest(baseURL: baseURL)
        } catch let error as DataLoaderError {
            // There is no other URL, and the method is not known.
            var named = DataLoaderRequest(url: baseURL)
            named.method = HTTPMethod(rawValue: "")
            throw error.ending(named)
        }
    }

    private func isOurs(_ url: URL) -> Bool {
        guard let origin = try? RequestTarget(url).origin else { return false }
        return origin == (try? RequestTarget(baseURL).origin)
    }
}

extension Connection: CustomStringConvertible {
    /// The base URL, without user information, query and fragment.
    public var description: String { "Connection \(baseURL.redactedText)" }
}
