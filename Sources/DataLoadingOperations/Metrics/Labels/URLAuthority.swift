// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The host and port of a URL, found in one pass and without an allocation.
///
/// It does not check what a load has checked: it finds a host for which a table can be asked, or
/// something that no table has.
struct URLAuthority {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    /// Where the host is, an IPv6 address with its brackets.
    let host: Range<Int>
    /// FNV-1a of the host in lower case; equal hashes are no proof of equal hosts.
    let hash: UInt64
    let port: UInt16

    /// Finds them; nil if the URL is not http or https, or its port is no number.
    init?(of url: Bytes) {
        let isSecure = Self.hasPrefix(url, "https://")
        guard isSecure || Self.hasPrefix(url, "http://") else { return nil }
        let start = isSecure ? 8 : 7
        var end = start
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        var isInBrackets = false
        while end < url.count {
            let byte = url[end].asciiLowercased
            // An IPv6 address has colons too.
            if byte == UInt8(ascii: ":"), !isInBrackets { break }
            if Self.endsAuthority(byte) { break }
            if byte == UInt8(ascii: "[") { isInBrackets = true }
            if byte == UInt8(ascii: "]") { isInBrackets = false }
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
            end += 1
        }
        guard let port = Self.port(url, after: end, isSecure: isSecure) else { return nil }
        host = start..<end
        self.hash = hash
        self.port = port
    }

    /// The port behind the end of a host; the scheme's own where there is none.
    private static func port(_ url: Bytes, after end: Int, isSecure: Bool) -> UInt16? {
        var number = 0
        var next = end + 1
        while end < url.count, next < url.count, url[end] == UInt8(ascii: ":"),
            !endsAuthority(url[next])
        {
            guard url[next].isDigit, number <= 65_535 else { return nil }
            number = number * 10 + Int(url[next] - UInt8(ascii: "0"))
            next += 1
        }
        if number == 0 { return isSecure ? 443 : 80 }
        return UInt16(exactly: number)
    }

    private static func hasPrefix(_ url: Bytes, _ prefix: StaticString) -> Bool {
        guard url.count >= prefix.utf8CodeUnitCount else { return false }
        for index in 0..<prefix.utf8CodeUnitCount
        where url[index].asciiLowercased != prefix.utf8Start[index] { return false }
        return true
    }

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }
}
