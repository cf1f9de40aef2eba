// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import CCurl
import Foundation

/// An easy handle and the attempt that it carries; the handle is reused for later attempts.
///
/// It is used on the loop's thread only, and what every attempt touches is not checked for exclusive
/// access, because a check costs more than the access. libcurl's callbacks find it by an unretained
/// pointer, so it retains itself from the creation of its handle until `free`.
final class CurlTransfer {
    /// The phase of the attempt.
    enum Phase {
        case idle
        /// The body's file or stream is being opened.
        case preparing
        /// Waiting until another attempt has found out which protocol the server speaks.
        case waiting
        /// Waiting for the addresses of this name.
        case resolving(String)
        /// Added to a multi handle.
        case running(CurlMulti)
    }

    @exclusivity(unchecked) private(set) var easy: OpaquePointer
    let loop: CurlLoop
    /// What the handle is set up for; nil when that is unknown.
    ///
    /// Its fields were checked when it was made, and its host is the origin's.
    @exclusivity(unchecked) var shape: CurlShape?
    var headerList: CurlStringList?
    var resolveList: CurlStringList?
    /// The entry that libcurl takes the addresses of the attempt's name from, until it sends.
    @exclusivity(unchecked) var nameUse: NameUse?
    /// libcurl gives up connecting after a while by itself.
    @exclusivity(unchecked) var limitsConnecting = false
    var connectList: CurlStringList?
    var proxyHeaderList: CurlStringList?
    /// The URL and the address of the last attempt, which are often those of the next.
    @exclusivity(unchecked) private(set) var origin: Origin?
    /// The URL for libcurl, written from what the check has parsed.
    @exclusivity(unchecked) private(set) var url = ""
    /// Its path and query, as they are sent.
    @exclusivity(unchecked) private(set) var pathAndQuery = ""
    @exclusivity(unchecked) private var urlText = ""
    /// What libcurl has parsed of it.
    let parsedURL: CurlURL
    @exclusivity(unchecked) private var originIsNumeric = false
    /// The limits of the last attempt, whose conversion into nanoseconds takes longer than a look
    /// whether they are the same.
    @exclusivity(unchecked) private var connectLimit = (Duration.zero, Int64(0))
    @exclusivity(unchecked) private var idleLimit = (Duration.zero, Int64(0))
    @exclusivity(unchecked) private(set) var connectTarget: ConnectTarget?
    /// Set to 1 when the peer has sent a close_notify; the memory belongs to the loop.
    let closeNotifyFlag: UnsafeMutablePointer<Int32>
    /// What the server of the last attempt sent, which is often what that of the next sends.
    private let fieldMemory = FieldMemory()
    let errorText: UnsafeMutablePointer<CChar>

    @exclusivity(unchecked) var phase = Phase.idle
    @exclusivity(unchecked) var task: CurlTask?
    @exclusivity(unchecked) var state = TransferState()

    /// Makes a handle; nil when memory is exhausted.
    static func make(for loop: CurlLoop) -> CurlTransfer? {
        guard let parsedURL = CurlURL(), let easy = ccurl_easy_init() else { return nil }
        return CurlTransfer(easy, parsedURL, loop)
    }

    private init(_ easy: OpaquePointer, _ parsedURL: CurlURL, _ loop: CurlLoop) {
        self.easy = easy
        self.parsedURL = parsedURL
        self.loop = loop
        closeNotifyFlag = loop.takeCloseNotifyFlag()
        errorText = .allocate(capacity: 256)  // CURL_ERROR_SIZE
        errorText.initialize(repeating: 0, count: 256)
        _ = Unmanaged.passRetained(self)
    }

    deinit {
        errorText.deallocate()
    }

    /// Frees the handle, which must be in no multi handle and in no callback.
    func free() {
        ccurl_easy_cleanup(easy)
        loop.returnCloseNotifyFlag(closeNotifyFlag)
        Unmanaged.passUnretained(self).release()
    }

    /// Makes a new handle in place of this one, which must be in no multi handle and in no callback.
    func renew() throws(DataLoaderError) {
        guard let other = ccurl_easy_init() else { throw .resources(reason: "memory") }
        ccurl_easy_cleanup(easy)
        easy = other
    }

    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static func from(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
        context.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Begins an attempt.
    func begin(_ task: CurlTask) throws(RequestFault) {
        let text = task.request.text
        if text != urlText { try read(text) }
        if connectTarget?.text != task.request.address {
            connectTarget = try task.request.address.map { address throws(RequestFault) in
                try ConnectTarget(address: address)
            }
        }
        // The method and fields of the current shape were checked when it was set up.
        if shape?.method != task.request.method { try RequestCheck.check(task.request.method) }
        let hasSameHeaders = shape?.headers.hasSameBytes(as: task.request.headers) == true
        if !hasSameHeaders {
            for field in task.request.headers.fields { try RequestCheck.check(field) }
        }
        if task.request.body != nil,
            task.request.method == .head || task.request.method == .trace
        {
            throw .body
        }
        try checkProxy(task.request)
        self.task = task
        // The attempt before has left a new state.
        state.response = ResponseGuard(
            byteLimit: task.request.headLimit, memory: fieldMemory)
        beginTunnel(for: task)
        state.hasSameHeaders = hasSameHeaders
        state.resets = loop.resets
        setLimits(task)
    }

    private func setLimits(_ task: CurlTask) {
        if connectLimit.0 != task.request.connectTimeout {
            connectLimit = (
                task.request.connectTimeout, max(0, task.request.connectTimeout.wholeNanoseconds)
            )
        }
        if idleLimit.0 != task.request.idleTimeout {
            idleLimit = (task.request.idleTimeout, task.request.idleTimeout.wholeNanoseconds)
        }
        state.connectDeadline = task.start.addingSaturated(connectLimit.1)
        state.idleLimit = idleLimit.1
    }

    /// The name that must be resolved for libcurl; nil for a numeric address.
    var nameToResolve: String? {
        if let proxy = task?.request.proxy {
            return ConnectTarget.isNumeric(proxy.origin.host) ? nil : proxy.origin.host
        }
        if let connectTarget { return connectTarget.isNumeric ? nil : connectTarget.host }
        return originIsNumeric ? nil : origin?.host
    }

    private func read(_ text: String) throws(RequestFault) {
        urlText = ""
        let target = try RequestTarget(text: text)
        origin = target.origin
        url = target.urlText
        pathAndQuery = target.pathAndQuery
        originIsNumeric = ConnectTarget.isNumeric(target.origin.host)
        urlText = text
    }

    /// Ends the attempt and drops everything that belongs to its caller.
    func end() {
        state.feed?.stop()
        state = TransferState()
        task = nil
        phase = .idle
        errorText[0] = 0
    }
}
