// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// A method that OpenTelemetry knows: those of RFC 9110 and RFC 5789, and QUERY.
enum MethodLabel: String, CaseIterable, Sendable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case delete = "DELETE"
    case patch = "PATCH"
    case options = "OPTIONS"
    case query = "QUERY"
    case trace = "TRACE"
    case connect = "CONNECT"
    case other = "_OTHER"

    init(_ method: HTTPMethod) {
        // Most loads are GETs, and a raw value is searched for in a list.
        self = method == .get ? .get : MethodLabel(rawValue: method.rawValue) ?? .other
    }

    var label: Label { Label("http.request.method", rawValue) }
}
