// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The host and port of a URL, found without an allocation.
///
/// It does not check what a load has checked: it finds a host for which a table can be asked, or
/// something that no table has.
struct URLAuthority {
    typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    /// The host, an IPv6 address in brackets.
    let host: Bytes
    let port: UInt16

    /// Finds them; nil if the URL is not http or https, or its port is no number.
    init?(of url: Bytes) {
        let scheme = url.prefix { $0 != UInt8(ascii: ":") }
        let isSecure = scheme.count == 5
        let name = isSecure ? "https" : "http"
        guard scheme.elementsEqual(name.utf8, by: { $0.asciiLowercased == $1 }),
            url.dropFirst(scheme.count).starts(with: "://".utf8)
        else { return nil }
        let authority = url.dropFirst(scheme.count + 3).prefix {
            $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
        }
        // An IPv6 address has colons too, inside of brackets.
        let end = authority.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
        let colon = authority[end...].firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
        guard let port = Self.port(authority[colon...].dropFirst(), isSecure: isSecure) else {
            return nil
        }
        host = authority[..<colon]
        self.port = port
    }

    /// The port from its digits; the scheme's own where there are none.
    private static func port(_ digits: Bytes, isSecure: Bool) -> UInt16? {
        guard !digits.isEmpty else { return isSecure ? 443 : 80 }
        guard digits.count <= 5, digits.allSatisfy(\.isDigit) else { return nil }
        return UInt16(exactly: digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) })
    }
}
