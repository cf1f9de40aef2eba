// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoading

/// The steps with which a server answers a request, correctly or not.
///
/// ```swift
/// let responses: [LoopbackResponse] = [
///     .ok("hello"),
///     .status(503, headers: ["Retry-After": "1"]),
///     .status(200, headers: ["Content-Length": "100"]).followed(by: .bytes("short"), .close),
///     .steps(.bytes("HTTP/1.1 20"), .reset),
/// ]
/// ```
/// After its steps, the connection waits for the next request, unless a step ended the connection,
/// or the request or a head step contained `Connection: close`.
public struct LoopbackResponse: Sendable {
    /// The steps, in order.
    public var steps: [LoopbackStep]

    /// Makes a response from steps.
    public init(_ steps: [LoopbackStep]) {
        self.steps = steps
    }

    /// A response of these steps only.
    public static func steps(_ steps: LoopbackStep...) -> LoopbackResponse {
        LoopbackResponse(steps)
    }

    /// The same response after these steps, such as a pause or a 103.
    public func preceded(by steps: LoopbackStep...) -> LoopbackResponse {
        LoopbackResponse(steps + self.steps)
    }

    /// The same response before these steps, such as a reset.
    public func followed(by steps: LoopbackStep...) -> LoopbackResponse {
        LoopbackResponse(self.steps + steps)
    }
}

extension LoopbackResponse {
    /// A 200 with a body.
    public static func ok(
        _ body: LoopbackPayload = .empty, headers: HTTPHeaders = [:]
    ) -> LoopbackResponse {
        status(200, headers: headers, body: body)
    }

    /// A response with a body and its `Content-Length`, unless the headers frame it themselves.
    ///
    /// Headers with `Content-Length` or `Transfer-Encoding` are sent unchanged, so that a test can
    /// declare a wrong length. A 1xx, 204 or 304 gets no length.
    public static func status(
        _ status: Int, reason: String? = nil, headers: HTTPHeaders = [:],
        body: LoopbackPayload = .empty
    ) -> LoopbackResponse {
        var headers = headers
        let isFramed = headers.contains("Content-Length") || headers.contains("Transfer-Encoding")
        if !isFramed, ResponseHead.mayHaveBody(status: status) {
            headers.add(String(body.count), for: "Content-Length")
        }
        return .steps(.head(status, reason: reason, headers: headers), .content(body))
    }

    /// A response in the chunked coding, complete with its last chunk and trailers.
    public static func chunked(
        _ chunks: [LoopbackPayload], trailers: HTTPHeaders = [:], status: Int = 200,
        headers: HTTPHeaders = [:]
    ) -> LoopbackResponse {
        var headers = headers
        headers.add("chunked", for: "Transfer-Encoding")
        let pieces = chunks.map { LoopbackStep.chunks($0, of: Int(clamping: max(1, $0.count))) }
        return LoopbackResponse(
            [.head(status, headers: headers)] + pieces + [.lastChunk(trailers: trailers)])
    }

    /// A response whose body ends when the connection closes.
    public static func untilClose(
        _ body: LoopbackPayload, status: Int = 200, headers: HTTPHeaders = [:]
    ) -> LoopbackResponse {
        .steps(.head(status, headers: headers), .content(body), .close)
    }

    /// A response that declares more bytes than it has, and then closes.
    public static func truncated(
        _ body: LoopbackPayload, declaring length: Int64, headers: HTTPHeaders = [:]
    ) -> LoopbackResponse {
        var headers = headers
        headers.add(String(length), for: "Content-Length")
        return status(200, headers: headers, body: body).followed(by: .close)
    }

    /// These bytes unchanged, after which the connection closes.
    public static func raw(_ bytes: LoopbackPayload) -> LoopbackResponse {
        .steps(.bytes(bytes), .close)
    }
}
