// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// The peer that an attempt connects to instead of its URL's host.
struct ConnectTarget {
    /// The address that it was parsed from.
    let text: String
    /// In lower case; an IPv6 address in brackets.
    let host: String
    /// Nil for the URL's port.
    let port: UInt16?
    /// Whether the peer needs no look-up: an address or a socket's path.
    let isNumeric: Bool
    /// The path of a Unix-domain socket; nil for a host.
    let socketPath: String?

    /// Parses "host", "host:port", "10.0.0.1", "[::1]:8443" or "unix:/run/server.sock".
    init(address: String) throws(RequestFault) {
        guard !UnixSocketAddress.isMeant(by: address) else {
            guard let socket = UnixSocketAddress(address) else { throw .host }
            (text, host, port, isNumeric, socketPath) = (address, "", nil, true, socket.path)
            return
        }
        let target = try RequestTarget(text: "http://\(address)/")
        guard target.pathAndQuery == "/" else { throw .host }
        text = address
        host = target.origin.host
        // An authority has a port after its last colon, unless that is inside the brackets.
        guard let end = address.utf8.last, end != UInt8(ascii: ":") else { throw .host }
        let hasPort = end != UInt8(ascii: "]") && address.utf8.contains(UInt8(ascii: ":"))
        port = hasPort ? target.origin.port : nil
        isNumeric = Self.isNumeric(host)
        socketPath = nil
    }

    /// The value for CURLOPT_CONNECT_TO, for any host and port of the URL.
    var connectTo: String { "::\(host):" + (port.map { "\($0)" } ?? "") }

    /// Returns whether the host of a `RequestTarget` is an address: in brackets, or four
    /// numbers.
    ///
    /// `RequestTarget` refuses a host that ends in a number and is no address, so the last
    /// label decides.
    static func isNumeric(_ host: String) -> Bool {
        if host.utf8.first == UInt8(ascii: "[") { return true }
        let last = host.utf8.split(separator: UInt8(ascii: ".")).last
        return last?.allSatisfy(\.isDigit) ?? false
    }
}
