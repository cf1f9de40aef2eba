// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    /// The peer that an attempt dials: its URL's host, or the address in the place of that.
    struct DialledHost {
        /// What it was made from.
        let text: String
        /// Lower case; an IPv6 address in brackets.
        let host: String
        /// Nil for the URL's own.
        let port: UInt16?
        /// Whether nothing is to be looked up.
        let isNumeric: Bool

        /// Reads "host", "host:port", "10.0.0.1" or "[::1]:8443".
        init(address: String) throws(RequestFault) {
            let target = try RequestTarget(text: "http://\(address)/")
            guard target.pathAndQuery == "/" else { throw .host }
            text = address
            host = target.origin.host
            // An authority without a port is nothing but its host.
            port = address.utf8.count == host.utf8.count ? nil : target.origin.port
            isNumeric = Self.isNumeric(host)
        }

        /// As the value of CURLOPT_CONNECT_TO, for whatever host and port the URL has.
        var connectTo: String { "::\(host):" + (port.map { "\($0)" } ?? "") }

        /// Whether the host of a `RequestTarget` is an address: in brackets, or four numbers.
        ///
        /// What ends in a number and is no address is no host, so that the last label tells.
        static func isNumeric(_ host: String) -> Bool {
            if host.utf8.first == UInt8(ascii: "[") { return true }
            let last = host.utf8.split(separator: UInt8(ascii: ".")).last
            return last?.allSatisfy(\.isDigit) ?? false
        }
    }
#endif
