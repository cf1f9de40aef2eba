// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What became of a load: the response it got, or why it got none.
public struct DataLoaderResponse: Sendable {
    /// The request as it was performed, before authorisers and redirects.
    public var request: DataLoaderRequest
    /// Why the load is no success; `.status` when there is a whole response that is not 200 to 299.
    public var error: DataLoaderError?
    /// What an authoriser said, of a load that ended `.cannotAuthenticate`: an `AuthorisationError`
    /// of the library's, or an error of your own; nil for every other load.
    public var underlyingError: (any Error)?
    /// The status, `.none` when no head arrived.
    public var statusCode: HTTPStatus
    /// The response's fields, empty when no head arrived.
    public var headers: HTTPHeaders
    /// The URL that answered, after redirects; nil when no head arrived.
    public var resolvedURL: URL?
    /// When the server asks to be tried again, from `Retry-After`.
    public var retryAfter: Date?
    /// The decoded body; nil for a load in chunks, for one that got no whole response, and when the
    /// body went to the request's `responseSink`.
    public var body: Data?
    /// The file that the body was put into, by `ResponseSink.file`; nil for every other load.
    public var bodyFile: URL?
    /// The time from `perform` to the outcome.
    public var requestTime: Duration
    /// What the load cost.
    public var metrics: LoadMetrics

    /// Makes a response, for transports' and observers' tests.
    public init(
        request: DataLoaderRequest, error: DataLoaderError? = nil, statusCode: HTTPStatus = .none,
        headers: HTTPHeaders = HTTPHeaders(), resolvedURL: URL? = nil, retryAfter: Date? = nil,
        body: Data? = nil, requestTime: Duration = .zero, metrics: LoadMetrics = LoadMetrics()
    ) {
        self.request = request
        self.error = error
        self.statusCode = statusCode
        self.headers = headers
        self.resolvedURL = resolvedURL
        self.retryAfter = retryAfter
        self.body = body
        self.requestTime = requestTime
        self.metrics = metrics
    }
}

extension DataLoaderResponse: CustomStringConvertible {
    /// The request without its query, the status and the error; never a header value or the body.
    public var description: String {
        "\(request) → \(statusCode.rawValue)" + (error.map { " \($0)" } ?? "")
    }
}
