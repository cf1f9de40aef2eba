// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

extension RequestCheck {
    /// Returns the target of the request; throws the part of it that is not allowed.
    static func target(of request: DataLoaderRequest) throws(RequestFault) -> RequestTarget {
        let target = try request.target
        try check(request)
        return target
    }

    /// Checks the settings, which are not sent: a malformed setting is neither changed nor ignored.
    private static func checkSettings(of request: DataLoaderRequest) throws(RequestFault) {
        if let limit = request.idleTimeout, limit <= .zero { throw .setting(name: "idleTimeout") }
        if let count = request.maximumRetryCount, count < 0 {
            throw .setting(name: "maximumRetryCount")
        }
        if request.hasRetryPolicy, let policy = request.retryPolicy as? BuiltInRetryPolicy,
            policy.isMalformed
        {
            throw .setting(name: "retryPolicy")
        }
        if request.hasOptions {
            if request.responseSink.isMalformed { throw .setting(name: "responseSink") }
            if request.serverTrustPolicy?.fault != nil { throw .setting(name: "serverTrustPolicy") }
            if let identity = request.clientIdentity {
                // Over plain http the request would be sent without the identity.
                guard identity.isPEM, request.url.scheme?.asciiLowercased == "https" else {
                    throw .setting(name: "clientIdentity")
                }
            }
        }
        switch request.body {
        case .stream(let length?, _), .oneShot(_, let length?):
            if length < 0 { throw .setting(name: "body") }
        default: break
        }
    }

    /// Checks everything but the URL.
    static func check(_ request: DataLoaderRequest) throws(RequestFault) {
        try checkSettings(of: request)
        try check(request.method)
        for field in request.headers.fields { try check(field) }
        if request.body != nil, request.method == .head || request.method == .trace {
            throw .body
        }
        guard case .multipart(let form) = request.body else { return }
        for type in form.parts.compactMap(\.contentType) {
            try check(HTTPHeaders.Field(name: "Content-Type", value: type))
        }
    }
}
