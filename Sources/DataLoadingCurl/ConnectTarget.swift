// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// The host and port that an attempt connects to instead of its URL's.
struct ConnectTarget {
    /// The address that it was parsed from.
    let text: String
    /// In lower case; an IPv6 address in brackets.
    let host: String
    /// Nil for the URL's port.
    let port: UInt16?
    /// Whether the host is an address, which needs no look-up.
    let isNumeric: Bool

    /// Parses "host", "host:port", "10.0.0.1" or "[::1]:8443".
    init(address: String) throws(RequestFault) {
        let target = try RequestTarget(text: "http://\(address)/")
        guard target.pathAndQuery == "/" else { throw .host }
        text = address
        host = target.origin.host
        // An authority without a port is only a host.
        port = address.utf8.count == host.utf8.count ? nil : target.origin.port
        isNumeric = Self.isNumeric(host)
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
