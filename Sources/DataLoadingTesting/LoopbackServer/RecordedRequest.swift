// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoading
public import Foundation

/// A request as it arrived.
public struct RecordedRequest: Sendable {
    /// The connection's number, counted from 0 in the order of acceptance.
    public let connection: Int
    /// The request's number on its connection, counted from 0.
    public let indexOnConnection: Int
    /// The method.
    public let method: HTTPMethod
    /// The request target as in the request line.
    public let target: String
    /// The protocol version, such as "HTTP/1.1".
    public let version: String
    /// The header fields in order.
    public let headers: HTTPHeaders
    /// Every byte of the head, up to and including the empty line.
    public let rawHead: Data
    /// The time at which the head was complete, since the start of the server.
    public let arrival: Duration
    /// The body without its transfer coding, up to the configuration's `recordedBodyLimit`.
    public internal(set) var body = Data()
    /// The number of body bytes that arrived, recorded or not.
    public internal(set) var bodyLength: Int64 = 0
    /// The trailers of a chunked body.
    public internal(set) var trailers: HTTPHeaders = [:]
    /// Whether all of the request was read.
    public internal(set) var isComplete = false

    /// Whether the connection had served a request before.
    public var isOnReusedConnection: Bool { indexOnConnection > 0 }

    /// The target up to its query.
    public var path: String {
        String(target.prefix { $0 != "?" })
    }

    /// The query of the target, without its question mark; nil when there is none.
    public var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }

    /// The recorded body as UTF-8, with invalid bytes replaced.
    public var text: String {
        String(decoding: body, as: UTF8.self)
    }
}
