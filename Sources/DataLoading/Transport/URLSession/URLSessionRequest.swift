// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin) || URLSession
    import Foundation

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// Turns an attempt into the session's request, or says why that cannot be.
    enum URLSessionRequest {
        /// Longer than any attempt, in seconds: the limits are the attempt's own.
        ///
        /// A week, because Linux counts it in milliseconds.
        static let endlessInterval: TimeInterval = 604_800

        /// Makes the request; `bodyFailed` hears, on any thread, that its body cannot be read.
        static func make(
            _ attempt: TransportRequest,
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
                throw .unsupported(reason: "URLSession cannot send this URL as it stands")
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
                    of: body, failed: bodyFailed)
            }
            return request
        }

        /// What does not pass here goes on the wire as it is on Linux.
        private static func check(_ attempt: TransportRequest) throws(RequestFault) -> RequestTarget
        {
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
            guard !attempt.refusesPrivateAddresses else {
                throw .unsupported(reason: "URLSession does not tell its peer's address in time")
            }
            guard attempt.method != .get || attempt.body == nil else {
                throw .unsupported(reason: "URLSession cannot send a GET with a body")
            }
            // Foundation looks a name up by itself, and tells nobody where it leads.
            guard !attempt.needsLoopbackPeer || origin.host != "localhost" else {
                throw .unsupported(
                    reason: "URLSession cannot tell that localhost is this machine: use 127.0.0.1")
            }
            guard let trust = attempt.trust(for: origin) else { return }
            if let fault = trust.fault { throw fault }
            guard trust.authorities == nil, trust.pins == nil, trust.identity == nil else {
                throw .unsupported(reason: "URLSession knows the system's trust alone")
            }
        }
    }
#endif
