// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation

/// A span as a collector reads it.
struct SentSpan: Decodable {
    struct Attribute: Decodable {
        struct Value: Decodable {
            let stringValue: String?
            let intValue: String?
            let doubleValue: Double?
        }

        let key: String
        let value: Value
    }

    struct Event: Decodable {
        let timeUnixNano: String
        let name: String
        let attributes: [Attribute]
    }

    struct Status: Decodable { let code: Int }

    let traceId: String
    let spanId: String
    let parentSpanId: String?
    let name: String
    let kind: Int
    let startTimeUnixNano: String
    let endTimeUnixNano: String
    let attributes: [Attribute]
    let events: [Event]?
    let status: Status?

    /// The value of an attribute, as text.
    subscript(key: String) -> String? { attributes[key] }

    /// The nanoseconds from the start to the end.
    var duration: Int64? {
        guard let start = Int64(startTimeUnixNano), let end = Int64(endTimeUnixNano) else {
            return nil
        }
        return end - start
    }
}

extension [SentSpan.Attribute] {
    /// The value of an attribute, as text.
    subscript(key: String) -> String? {
        guard let value = first(where: { $0.key == key })?.value else { return nil }
        return value.stringValue ?? value.intValue ?? value.doubleValue.map { "\($0)" }
    }
}

/// The body of a request with spans.
private struct SentSpans: Decodable {
    struct Resource: Decodable { let scopeSpans: [Scope] }

    struct Scope: Decodable { let spans: [SentSpan] }

    let resourceSpans: [Resource]
}

extension ScriptedTransport {
    /// The bodies of the requests to a path so far.
    func bodies(_ path: String) -> [Data] {
        attempts.filter { $0.request.url.path == path }.compactMap { $0.takeBody() }
    }

    /// The spans that a collector got.
    func spans() throws -> [SentSpan] {
        try bodies("/v1/traces").flatMap { body in
            try JSONDecoder().decode(SentSpans.self, from: body).resourceSpans
                .flatMap(\.scopeSpans).flatMap(\.spans)
        }
    }
}
