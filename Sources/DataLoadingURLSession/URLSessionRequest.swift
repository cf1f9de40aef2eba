// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Converts an attempt to the session's request, or throws why that is not possible.
enum URLSessionRequest {
    /// Longer than any attempt, in seconds: the attempt enforces the limits.
    ///
    /// A week, because Linux counts it in milliseconds.
    static let endlessInterval: TimeInterval = 604_800

    /// Makes the request; calls `bodyFailed` on any thread when its body cannot be read, and stops reading
    /// it when `isStopped` returns true.
    static func make(
        _ attempt: TransportRequest, isStopped: @escaping @Sendable () -> Bool = { false },
        bodyFailed: @escaping @Sendable (DataLoaderError) -> Void
    ) throws(DataLoaderError) -> URLRequest {
        guard attempt.cachePolicy != .cacheOnly else { throw .notCached }
        let target: RequestTarget
        do throws(RequestFault) {
            target = try check(attempt)
        } catch {
            throw .invalidRequest(error)
        }
        try checkIsPossible(attempt, target.origin)
        guard let url = URL(string: target.urlText) else {
            throw .unsupported(reason: "URLSession cannot send this URL unchanged")
        }
        var request = URLRequest(
            url: url, cachePolicy: .reloadIgnoringLocalCacheData,
            timeoutInterval: endlessInterval)
        request.httpMethod = attempt.method.rawValue
        request.httpShouldHandleCookies = false
        for field in attempt.headers.fields {
            request.addValue(field.value, forHTTPHeaderField: field.name)
        }
        guard let body = attempt.body else { return request }
        if let data = body.bytes {
            request.httpBody = data
        } else {
            request.httpBodyStream = try URLSessionTransport.stream(
                of: body, isStopped: isStopped, failed: bodyFailed)
        }
        return request
    }

    /// Checks what Linux would write to the wire unchecked.
    private static func check(_ attempt: TransportRequest) throws(RequestFault) -> RequestTarget {
        let target = try RequestTarget(text: attempt.text)
        try RequestCheck.check(attempt.method)
        for field in attempt.headers.fields { try RequestCheck.check(field) }
        if attempt.body != nil, attempt.method == .head || attempt.method == .trace {
            throw .body
        }
        return target
    }

    private static func checkIsPossible(
        _ attempt: TransportRequest, _ origin: Origin
    ) throws(DataLoaderError) {
        guard attempt.address == nil else {
            throw .unsupported(reason: "URLSession cannot dial another address")
        }
        guard attempt.proxy == nil else {
            throw .unsupported(reason: "URLSession has the proxies of its configuration only")
        }
        guard !attempt.refusesPrivateAddresses else {
            throw .unsupported(reason: "URLSession cannot check its peer's address")
        }
        guard attempt.method != .get || attempt.body == nil else {
            throw .unsupported(reason: "URLSession cannot send a GET with a body")
        }
        // Foundation resolves a name by itself, and does not report the address.
        guard !attempt.needsLoopbackPeer || origin.host != "localhost" else {
            throw .unsupported(
                reason: "URLSession cannot tell that localhost is this machine: use 127.0.0.1")
        }
        guard let trust = attempt.trust(for: origin) else { return }
        if let fault = trust.fault { throw fault }
        guard trust.authorities == nil, trust.pins == nil, trust.identity == nil else {
            throw .unsupported(reason: "URLSession supports only the system's trust")
        }
    }
}
