// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// The options that a handle is set up with.
///
/// A handle whose next attempt has the same shape keeps its options, whose setting is most of
/// the cost of a small request outside libcurl. It is a class because instances are only
/// compared.
final class CurlShape {
    enum Upload: Equatable {
        case none
        /// A head that says `Content-Length: 0`.
        case empty
        /// Copied by libcurl, and sent together with the head.
        case copied
        /// Read through a callback; the length when it is known.
        case read(Int64?)
    }

    let method: HTTPMethod
    let upload: Upload
    let address: String?
    let proxy: Proxy?
    let proxyAuthorization: String?
    let isSecure: Bool
    let streams: Bool
    let isFresh: Bool
    let isHTTP2: Bool
    /// What the trust policy says about the URL's host; nil for plain http and without a
    /// policy.
    let trust: HostTrust?
    var url: String
    var headers: HTTPHeaders

    init(
        _ task: CurlTask, url: String, origin: Origin, isFresh: Bool, isHTTP2: Bool,
        upload: Upload
    ) {
        method = task.request.method
        self.upload = upload
        address = task.request.address
        proxy = task.request.proxy
        proxyAuthorization = task.request.proxyAuthorization
        isSecure = origin.isSecure
        streams = task.request.streamsResponse
        self.isFresh = isFresh
        self.isHTTP2 = isHTTP2
        trust = task.request.trust(for: origin)
        self.url = url
        headers = task.request.headers
    }

    /// How well a handle fits a request, as far as that is cheap to see.
    enum Fit: Int, Comparable {
        /// It is set up anew.
        case none
        /// It probably needs only other fields or another URL.
        case partial
        /// It probably needs nothing.
        case full

        static func < (left: Fit, right: Fit) -> Bool { left.rawValue < right.rawValue }
    }

    /// Returns how well it fits a request for a URL; `suits` decides.
    func fit(of request: TransportRequest, url text: String) -> Fit {
        guard upload == .none, request.body == nil, method == request.method,
            address == request.address, proxy == request.proxy,
            streams == request.streamsResponse,
            isSecure == (text.utf8.dropFirst(4).first == UInt8(ascii: "s"))
        else { return .none }
        return url.hasSameBytes(as: text) && headers.hasSameBytes(as: request.headers)
            ? .full : .partial
    }

    /// Returns whether an attempt needs no other options than another URL or other fields.
    func suits(
        _ task: CurlTask, origin: Origin, isFresh: Bool, isHTTP2: Bool, upload: Upload
    ) -> Bool {
        self.upload == .none && upload == .none && method == task.request.method
            && isSecure == origin.isSecure && streams == task.request.streamsResponse
            && self.isFresh == isFresh && self.isHTTP2 == isHTTP2
            && address == task.request.address
            && proxy == task.request.proxy
            && (proxy == nil || proxyAuthorization == task.request.proxyAuthorization)
            && trust == task.request.trust(for: origin)
    }
}
