// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import DataLoadingTransport
import DataLoadingSupport
import CCurl

/// A connection of libcurl that carries bytes of any protocol, with TLS or without.
///
/// It is used by one thread at a time, which may block while it connects. Afterwards nothing blocks; a
/// thread waits with `poll` on the descriptor. The connection is closed with the object. The environment's
/// proxies are not used.
package final class CurlStream {
    /// Where to connect to.
    package struct Target: Sendable {
        /// The host as in a URL.
        package var host: String
        package var port: UInt16
        /// The path of a Unix-domain socket, which replaces host and port.
        package var socketPath: String?
        /// Whether the connection has TLS, from version 1.2 on.
        package var isSecure: Bool
        /// What the host must show; nil for the system's authorities.
        package var trust: HostTrust?
        /// The limit of the name's resolution, the connection and its handshake together.
        package var connectLimit: Duration

        package init(
            host: String, port: UInt16, socketPath: String? = nil, isSecure: Bool,
            trust: HostTrust? = nil, connectLimit: Duration
        ) {
            self.host = host
            self.port = port
            self.socketPath = socketPath
            self.isSecure = isSecure
            self.trust = trust
            self.connectLimit = connectLimit
        }
    }

    /// What came of an attempt to receive.
    package enum Received: Equatable {
        case bytes(ArraySlice<UInt8>)
        case nothingYet
        /// The peer has ended the connection.
        case end
    }

    /// How often the process was forked; no stream works in a forked copy.
    package static var forks: Int32 { ccurl_forks() }

    /// Names the calling thread, for debuggers.
    package static func nameThread(_ name: String) { ccurl_name_thread(name) }

    private static let wouldBlock: Int32 = 81  // CURLE_AGAIN
    private let easy: OpaquePointer
    private let errorText: UnsafeMutablePointer<CChar>
    private var buffer = [UInt8](repeating: 0, count: 16_384)
    /// The socket to poll.
    package private(set) var descriptor: Int32 = -1

    /// Whether any thread may send, one at a time, and not only one of this library.
    ///
    /// TLS libraries keep something for each thread that calls them, which exit() frees while the
    /// thread may end; and before 7.88 libcurl left the writing to them, which may raise SIGPIPE.
    package let takesAnyThread: Bool

    /// Connects; blocks until the handshake is over.
    package init(to target: Target) throws(DataLoaderError) {
        guard let library = CurlLibrary.shared else {
            throw .unsupported(reason: CurlLibrary.failure)
        }
        try DescriptorReserve.checkRoom()
        guard let easy = ccurl_easy_init() else { throw .resources(reason: "memory") }
        self.easy = easy
        takesAnyThread = !target.isSecure
        errorText = .allocate(capacity: 256)  // CURL_ERROR_SIZE
        errorText.initialize(repeating: 0, count: 256)
        try setOptions(target, library)
        let result = ccurl_easy_perform(easy)
        guard result == 0 else { throw error(result) }
        var socket = -1
        ccurl_get_long(easy, CurlInfo.activeSocket, &socket)
        descriptor = Int32(truncatingIfNeeded: socket)
        guard descriptor >= 0 else { throw .connectionReset }
    }

    deinit {
        ccurl_easy_cleanup(easy)
        errorText.deallocate()
    }

    /// Sends what the connection takes now; returns the number of bytes, which may be zero.
    package func send(_ bytes: [UInt8]) throws(DataLoaderError) -> Int {
        guard !bytes.isEmpty else { return 0 }
        var count = 0
        let result = bytes.withUnsafeBytes { bytes in
            ccurl_easy_send(easy, bytes.baseAddress, bytes.count, &count)
        }
        guard result != Self.wouldBlock else { return 0 }
        guard result == 0 else { throw error(result) }
        return min(count, bytes.count)
    }

    /// Receives what has come.
    ///
    /// It must be called until there is nothing more: with TLS bytes may be waiting that `poll` does
    /// not report.
    package func receive() throws(DataLoaderError) -> Received {
        var count = 0
        let result = buffer.withUnsafeMutableBytes { buffer in
            ccurl_easy_receive(easy, buffer.baseAddress, buffer.count, &count)
        }
        guard result != Self.wouldBlock else { return .nothingYet }
        guard result == 0 else { throw error(result) }
        return count > 0 ? .bytes(buffer.prefix(count)) : .end
    }

    private func setOptions(_ target: Target, _ library: CurlLibrary) throws(DataLoaderError) {
        let handle = CurlHandle(easy: easy)
        try handle.set(CurlOption.errorBuffer, pointer: UnsafeRawPointer(errorText))
        try handle.set(CurlOption.noSignal, 1)
        try handle.set(CurlOption.connectOnly, 1)
        let scheme = target.isSecure ? "https" : "http"
        try handle.set(CurlOption.url, text: "\(scheme)://\(target.host):\(target.port)")
        if ccurl_set_pointer(easy, CurlOption.protocolNames, scheme) != 0 {
            try handle.set(CurlOption.protocols, target.isSecure ? 2 : 1)
        }
        // Otherwise libcurl takes the proxy of the environment.
        try handle.set(CurlOption.proxy, text: "")
        try handle.set(CurlOption.noProxy, text: "*")
        let limit = max(1, min(target.connectLimit / .milliseconds(1), 3_600_000))
        try handle.set(CurlOption.connectTimeout, Int(limit))
        try handle.set(CurlOption.keepAlive, 1)
        try handle.set(CurlOption.keepAliveIdle, 30)
        try handle.set(CurlOption.keepAliveInterval, 15)
        // Older versions do not know it; they wait for the name's resolution after the limit.
        _ = ccurl_set_long(easy, CurlOption.quickExit, 1)
        // Closed on exec, as every socket of a library must be.
        try handle.check(
            ccurl_set_open_callback(easy, CurlOption.openSocketFunction) { _, _, address in
                address.map { ccurl_open_socket($0) } ?? CurlSignal.badSocket
            })
        if let path = target.socketPath {
            guard ccurl_set_pointer(easy, CurlOption.unixSocketPath, path) == 0 else {
                throw .unsupported(reason: "libcurl has no Unix-domain sockets")
            }
        }
        guard target.isSecure else { return }
        try handle.set(CurlOption.usesALPN, 0)
        try handle.set(CurlOption.minTLSVersion, 6)  // CURL_SSLVERSION_TLSv1_2
        if let trust = target.trust { try handle.setTrust(trust, library: library) }
    }

    private func error(_ result: Int32) -> DataLoaderError {
        var systemError = 0
        ccurl_get_long(easy, CurlInfo.systemError, &systemError)
        return CurlErrors.error(
            result, text: String(cString: errorText), systemError: Int32(clamping: systemError),
            state: TransferState())
    }
}
