// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import CCurl
import Foundation

extension CurlTransfer {
    /// The maximum size of a body that libcurl copies and sends together with the head.
    static let copiedBodySize = 16_384
    /// How many seconds a connection may be idle and still be used.
    static let maxIdleSeconds = 60
    private static let http11 = 2
    private static let http2OverTLS = 4

    /// Whether the attempt must not use a kept connection.
    var needsNewConnection: Bool {
        // Below 7.80 the loop can refuse neither a second send nor a connection's peer.
        task?.request.needsFreshConnection == true || state.routing.mustBeFresh || isLocal
            || state.routing.endings > 1 || !loop.library.canRefuseSends
    }

    /// Sets the handle up for its attempt, and skips the options that are set already.
    func apply(addresses: String?, in multi: CurlMulti) throws(DataLoaderError) {
        guard let task, let origin else { return }
        if let proxy = task.request.proxy { try refuseImpossibleProxy(proxy) }
        let upload = uploadKind
        let isFresh = needsNewConnection
        let isHTTP2 = state.routing.isHTTP2
        if let shape,
            shape.suits(
                task, origin: origin, isFresh: isFresh, isHTTP2: isHTTP2, upload: upload)
        {
            // Unknown until every option is set.
            self.shape = nil
            if shape.url != url {
                try setURL(shape)
                shape.url = url
            }
            if !state.hasSameHeaders {
                shape.headers = task.request.headers
                try setHeaders(shape)
            }
            if isHTTP2 { try pauseRefusalDetection() }
            self.shape = shape
        } else {
            let wanted = CurlShape(
                task, url: url, origin: origin, isFresh: isFresh, isHTTP2: isHTTP2,
                upload: upload)
            shape = nil
            if refusesLargeBuffer(wanted) { try renew() }
            ccurl_easy_reset(easy)
            try setBase()
            try setShape(wanted, body: task.request.body)
            try setURL(wanted)
            try setHeaders(wanted)
            shape = wanted
        }
        let port = task.request.proxy?.origin.port ?? connectTarget?.port ?? origin.port
        try setAddresses(addresses, port: port, in: multi)
    }

    /// Sets the URL, parsed, and its text, so that libcurl keeps none of an earlier attempt.
    ///
    /// The target is set too: of what it has parsed, libcurl 8.14 leaves out the question mark of an
    /// empty query, and 8.23 writes `%2e` as `%2E`. The signature of a request may cover both.
    private func setURL(_ shape: CurlShape) throws(DataLoaderError) {
        try parsedURL.parse(url)
        try set(CurlOption.url, text: url)
        try set(CurlOption.parsedURL, pointer: UnsafeRawPointer(parsedURL.handle))
        // RFC 9112 section 3.2.2: a proxy gets the absolute form.
        let isForProxy = shape.proxy != nil && !shape.isSecure
        try set(CurlOption.requestTarget, text: isForProxy ? url : pathAndQuery)
    }

    var uploadKind: CurlShape.Upload {
        guard let body = task?.request.body else {
            switch task?.request.method {
            case .post, .put, .patch: return .empty
            default: return .none
            }
        }
        guard let bytes = body.bytes else { return .read(state.feed?.length) }
        return bytes.count <= Self.copiedBodySize ? .copied : .read(Int64(bytes.count))
    }

    /// Sets the options that every attempt needs and that a reset of the handle clears.
    private func setBase() throws(DataLoaderError) {
        try set(CurlOption.noSignal, 1)
        try set(CurlOption.pathAsIs, 1)
        try set(CurlOption.http09Allowed, 0)
        try set(CurlOption.contentDecoding, 0)
        try set(CurlOption.keepAlive, 1)
        try set(CurlOption.keepAliveIdle, 30)
        try set(CurlOption.keepAliveInterval, 15)
        // Disables the environment's proxy variables; with every host excepted, libcurl does not look
        // for `no_proxy` there for each transfer.
        try set(CurlOption.proxy, text: "")
        try set(CurlOption.noProxy, text: "*")
        if ccurl_set_pointer(easy, CurlOption.protocolNames, "http,https") != 0 {
            try set(CurlOption.protocols, 3)  // the bit mask, for libcurl below 7.85
        }
        // Older versions do not know these options and use their own defaults.
        _ = ccurl_set_long(easy, CurlOption.quickExit, 1)
        let age = loop.idle.maximumAge / .seconds(1)
        _ = ccurl_set_long(easy, CurlOption.maximumLifetime, Int(max(1, min(age, 86_400))))
        try set(CurlOption.maximumIdleAge, Self.maxIdleSeconds)
        try setCallbacks()
    }

    private func setShape(_ shape: CurlShape, body: RequestBody?) throws(DataLoaderError) {
        try setBufferSize(shape)
        if shape.isFresh { try set(CurlOption.freshConnect, 1) }
        try set(CurlOption.httpVersion, shape.isHTTP2 ? Self.http2OverTLS : Self.http11)
        if shape.isHTTP2 { try prepareRefusalDetection() }
        // RFC 9325 section 3.1.1, whatever the system's configuration of TLS allows.
        if shape.isSecure { try set(CurlOption.minTLSVersion, 6) }  // CURL_SSLVERSION_TLSv1_2
        forgetAuthorities(shape)
        if let trust = shape.trust { try setTrust(trust) }
        try setPeer(shape)
        try setProxy(shape)
        try setMethod(shape, body: body)
    }

    private func setPeer(_ shape: CurlShape) throws(DataLoaderError) {
        if let path = connectTarget?.socketPath { return try setSocket(path) }
        // An empty host and port match those of the URL, whatever they are.
        connectList = connectTarget.map { connectTarget in
            CurlStringList([connectTarget.connectTo])
        }
        if let connectList { try set(CurlOption.connectTo, pointer: connectList.head) }
    }

    private func setMethod(_ shape: CurlShape, body: RequestBody?) throws(DataLoaderError) {
        switch shape.upload {
        case .none:
            if shape.method == .head {
                return try set(CurlOption.noBody, 1)
            } else if shape.method == .get {
                return
            }
        case .empty:
            try set(CurlOption.post, 1)
            try set(CurlOption.postSize, offset: 0)
            try set(CurlOption.copyPostFields, text: "")
        case .copied:
            guard let data = body?.bytes else { break }
            try set(CurlOption.post, 1)
            try set(CurlOption.postSize, offset: Int64(data.count))
            let result = data.withUnsafeBytes { bytes in
                ccurl_set_pointer(
                    easy, CurlOption.copyPostFields, bytes.baseAddress ?? UnsafeRawPointer(easy)
                )
            }
            try check(result)
        case .read(let length):
            try set(CurlOption.upload, 1)
            try set(CurlOption.uploadSize, offset: length ?? -1)
        }
        try set(CurlOption.customRequest, text: shape.method.rawValue)
    }

    private func setHeaders(_ shape: CurlShape) throws(DataLoaderError) {
        var lines: [String] = []
        lines.reserveCapacity(shape.headers.fields.count + 3)
        var hasEncoding = false
        var hasRange = false
        var hasType = false
        for field in shape.headers.fields {
            // After a colon, libcurl takes an empty value as the removal of its own field.
            lines.append(
                field.value.isEmpty ? field.name + ";" : field.name + ": " + field.value)
            hasEncoding = hasEncoding || field.name.equalsIgnoringASCIICase("Accept-Encoding")
            hasRange = hasRange || field.name.equalsIgnoringASCIICase("Range")
            hasType = hasType || field.name.equalsIgnoringASCIICase("Content-Type")
        }
        if !hasEncoding, loop.library.hasZlib {
            // A part of an encoded body cannot be decoded.
            lines.append("Accept-Encoding: " + (hasRange ? "identity" : "gzip, deflate"))
        }
        if shape.upload != .none {
            // Otherwise libcurl would send the type of a form.
            if !hasType { lines.append("Content-Type:") }
            // By default libcurl sends Expect over HTTP/1.1 and waits 1 s for the answer.
            if !expectsContinue(shape) {
                lines.append("Expect:")
            } else if !shape.isHTTP2 {
                lines.append(Self.expectation)
            }
        }
        let list = lines.isEmpty ? nil : CurlStringList(lines)
        try set(CurlOption.headers, pointer: list?.head)
        headerList = list
    }

    private func expectsContinue(_ shape: CurlShape) -> Bool {
        // After a 417 libcurl would send the request again, which only a send callback can
        // refuse.
        guard case .read(let length) = shape.upload, task?.request.expectsContinue == true,
            loop.library.canRefuseSends
        else { return false }
        return length ?? .max >= TransportRequest.largeBody
    }
}
