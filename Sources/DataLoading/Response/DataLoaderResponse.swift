// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingSupport
public import DataLoadingTransport
public import Foundation

/// The outcome of a load: a response, or the reason why there is none.
///
/// This sample prints the outcome of a request whose `responseSink` is a file:
///
/// ```swift
/// let response = try await loader.response(for: request)
/// print(response.bodyFile?.path ?? "no file", response.error?.name ?? "success")
/// ```
public struct DataLoaderResponse: Sendable, OpaquelyMirrored {
    /// The request as it was performed, before authorisers and redirects changed it.
    public var request: DataLoaderRequest
    /// The reason why the load failed; nil for a success.
    ///
    /// It is `.status` for a whole response whose status is not 200 to 299.
    public var error: DataLoaderError?
    /// The status; nil when no head arrived.
    ///
    /// A load that failed has one too when a head arrived: a body that broke off may have come with
    /// a 200.
    public var statusCode: HTTPStatus?
    /// The header fields; empty when no head arrived.
    public var headers: HTTPHeaders
    /// The URL that answered, after redirects; nil when no head arrived.
    public var resolvedURL: URL?
    /// The time after which the server asks to be tried again, from `Retry-After`.
    public var retryAfter: Date?
    /// The decoded body, when the load delivers it whole.
    ///
    /// It is nil for a load in chunks, for a load without a whole response, and when the body went
    /// to the request's `responseSink`.
    public var body: Data?
    /// The file that `ResponseSink.file` wrote; nil for every other load.
    public var bodyFile: URL?
    /// The time from `perform` to the outcome.
    public var requestTime: Duration
    /// The attempts, bytes and times of the load.
    public var metrics: LoadMetrics

    /// Makes a response, for tests of transports and observers.
    public init(
        request: DataLoaderRequest, error: DataLoaderError? = nil, statusCode: HTTPStatus? = nil,
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

extension DataLoaderResponse {
    /// The error of a whole response whose status is not accepted, with its body.
    func statusError(_ status: HTTPStatus) -> DataLoaderError {
        if let error, error.isWholeResponse { return error }
        var refusal = DataLoaderError.status(status).ending(request, metrics)
        refusal.keepBody(body)
        return refusal
    }

    /// The response of a load that ended before it was started.
    static func unstarted(_ request: DataLoaderRequest, _ error: DataLoaderError) -> Self {
        Self(request: request, error: error.ending(request))
    }
}

extension DataLoaderResponse: CustomStringConvertible {
    /// The request without its query, the status and the error, without header values or the body.
    public var description: String {
        let outcome = "\(request) → \(statusCode.map { "\($0)" } ?? "-")"
        return error.map { "\(outcome) \(ErrorText($0).text)" } ?? outcome
    }
}
