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
    public var request: DataLoaderRequest {
        get { fields.value.request }
        set { fields.change { $0.request = newValue } }
    }
    /// The reason why the load failed; nil for a success.
    ///
    /// It is `.status` for a whole response whose status is not 200 to 299.
    public var error: DataLoaderError? {
        get { fields.value.error }
        set { fields.change { $0.error = newValue } }
    }
    /// The status; nil when no head arrived.
    ///
    /// A load that failed has one too when a head arrived: a body that broke off may have come with
    /// a 200.
    public var statusCode: HTTPStatus? {
        get { fields.value.statusCode }
        set { fields.change { $0.statusCode = newValue } }
    }
    /// The header fields; empty when no head arrived.
    public var headers: HTTPHeaders {
        get { fields.value.headers }
        set { fields.change { $0.headers = newValue } }
    }
    /// The URL that answered, after redirects; nil when no head arrived.
    public var resolvedURL: URL? {
        get { fields.value.resolvedURL }
        set { fields.change { $0.resolvedURL = newValue } }
    }
    /// The time after which the server asks to be tried again, from `Retry-After`.
    public var retryAfter: Date?
    /// The decoded body, when the load delivers it whole.
    ///
    /// It is nil for a load in chunks, for a load without a whole response, and when the body went
    /// to the request's `responseSink`.
    public var body: Data?
    /// The file that `ResponseSink.file` wrote; nil for every other load.
    public var bodyFile: URL? {
        get { fields.value.bodyFile }
        set { fields.change { $0.bodyFile = newValue } }
    }
    /// The time from `perform` to the outcome.
    public var requestTime: Duration {
        get { fields.value.requestTime }
        set { fields.change { $0.requestTime = newValue } }
    }
    /// The attempts, bytes and times of the load.
    public var metrics: LoadMetrics {
        get { fields.value.metrics }
        set { fields.change { $0.metrics = newValue } }
    }

    /// The numbers of the metrics.
    package var figures: LoadFigures { LoadFigures(fields.value.metrics) }
    /// The peer of the metrics.
    package var remoteAddress: String? { fields.value.metrics.remoteAddress }
    /// When the load was performed, by the service's clock; nil for a response that no load has.
    package var begun: Instant? { fields.value.begun }
    /// Whether what arrived of a body that breaks off may lack a piece in the middle.
    package var mayLackPieces: Bool { fields.value.mayLackPieces }

    /// Shared by copies, because a response passes through many hands between a load and its owner.
    ///
    /// The two properties beside it change on the way.
    private var fields: CopyOnWrite<Fields>

    private struct Fields: Sendable {
        var request: DataLoaderRequest
        var error: DataLoaderError?
        var statusCode: HTTPStatus?
        var headers: HTTPHeaders
        var resolvedURL: URL?
        var bodyFile: URL?
        var requestTime: Duration
        var metrics: LoadMetrics
        var begun: Instant?
        var mayLackPieces = false
    }

    /// The response of a load that is not over, in which its attempts are counted.
    ///
    /// The response takes the draft's storage, so that what was counted is not copied.
    struct Draft: Sendable {
        private var fields: CopyOnWrite<Fields>

        /// Makes the draft of a load, with its number among the loads of the process.
        init(_ request: DataLoaderRequest, number: Int64, begun: Instant? = nil) {
            var metrics = LoadMetrics()
            metrics.load = number
            fields = CopyOnWrite(
                Fields(
                    request: request, headers: HTTPHeaders(), requestTime: .zero, metrics: metrics,
                    begun: begun))
        }

        var metrics: LoadMetrics { fields.value.metrics }
        // Each of these reads one number, and does not copy the others.
        var attempts: Int { fields.value.metrics.attempts }
        var redirects: Int { fields.value.metrics.redirects }
        var hasFailed: Bool {
            fields.value.metrics.retries > 0 || fields.value.metrics.replacedConnections > 0
        }

        @inline(__always) mutating func count(_ change: (inout LoadMetrics) -> Void) {
            fields.change { change(&$0.metrics) }
        }

        /// Returns the response as it is now, without a body.
        mutating func response(
            _ error: DataLoaderError?, _ head: ResponseHead?, _ url: URL?
        ) -> DataLoaderResponse {
            fields.change { fields in
                fields.error = error
                fields.statusCode = head?.status
                fields.headers = head?.headers ?? HTTPHeaders()
                fields.mayLackPieces = head?.mayLackPieces == true
                fields.resolvedURL = url
                fields.requestTime = fields.metrics.totalTime
            }
            return DataLoaderResponse(fields)
        }
    }

    private init(_ fields: CopyOnWrite<Fields>) {
        self.fields = fields
    }

    /// Makes a response, for tests of transports and observers.
    public init(
        request: DataLoaderRequest, error: DataLoaderError? = nil, statusCode: HTTPStatus? = nil,
        headers: HTTPHeaders = HTTPHeaders(), resolvedURL: URL? = nil, retryAfter: Date? = nil,
        body: Data? = nil, requestTime: Duration = .zero, metrics: LoadMetrics = LoadMetrics()
    ) {
        fields = CopyOnWrite(
            Fields(
                request: request, error: error, statusCode: statusCode, headers: headers,
                resolvedURL: resolvedURL, requestTime: requestTime, metrics: metrics))
        self.retryAfter = retryAfter
        self.body = body
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
