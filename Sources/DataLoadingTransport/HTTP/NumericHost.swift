// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Parses hosts that are IP addresses and writes each in one canonical form.
///
/// Resolvers read `127.1`, `2130706433` and `0x7f.0.0.1` as `127.0.0.1`. A pin or a rate for one
/// spelling must apply to all of them. They are therefore parsed as the URL standard says
/// (https://url.spec.whatwg.org/#host-parsing) and written as it and RFC 5952 say.
enum NumericHost {
    /// Returns the IPv4 address of a host without brackets; nil when the host is a name.
    ///
    /// A host that ends in a number but is not an address is refused, because some resolvers read
    /// it as an address and others as a name.
    static func version4(_ host: ArraySlice<UInt8>) throws(RequestFault) -> String? {
        let name = host.prefix(through: host.lastIndex { $0 != dot } ?? host.startIndex)
        let last = name.suffix(from: name.lastIndex(of: dot).map { $0 + 1 } ?? name.startIndex)
        guard last.first?.isDigit == true, last.allSatisfy(\.isDigit) || number(last) != nil
        else { return nil }
        let labels = name.split(separator: dot, omittingEmptySubsequences: false)
        guard host.count - name.count < 2, labels.count <= 4 else { throw .host }
        var address: UInt64 = 0
        for (index, label) in labels.enumerated() {
            // The last number holds all the bytes that the other numbers leave.
            let bytes = index == labels.count - 1 ? 4 - index : 1
            guard let value = number(label), value < 1 << (8 * UInt64(bytes)) else { throw .host }
            address = address << (8 * UInt64(bytes)) | value
        }
        return dotted(address)
    }

    /// Returns the IPv6 address between brackets; nil when the text is not an address.
    static func version6(_ text: ArraySlice<UInt8>) -> String? {
        var pieces: [UInt16] = []
        var gap: Int?
        var rest = text
        if rest.starts(with: [colon, colon]) {
            gap = 0
            rest = rest.dropFirst(2)
        }
        while let first = rest.first {
            guard pieces.count < 8 else { return nil }
            if first == colon {
                guard gap == nil, !pieces.isEmpty else { return nil }
                gap = pieces.count
                rest = rest.dropFirst()
                continue
            }
            let digits = rest.prefix { hexadecimal($0) != nil }
            rest = rest.dropFirst(digits.count)
            if rest.first == dot {
                guard let tail = dottedTail(digits + rest) else { return nil }
                pieces += tail
                rest = []
                continue
            }
            guard 1...4 ~= digits.count else { return nil }
            pieces.append(digits.reduce(0) { $0 << 4 | UInt16(hexadecimal($1) ?? 0) })
            guard let separator = rest.popFirst() else { continue }
            guard separator == colon, !rest.isEmpty else { return nil }
        }
        if let gap {
            guard pieces.count < 8 else { return nil }
            pieces.insert(contentsOf: repeatElement(0, count: 8 - pieces.count), at: gap)
        }
        return pieces.count == 8 ? bracketed(pieces) : nil
    }

    private static let dot = UInt8(ascii: ".")
    private static let colon = UInt8(ascii: ":")

    /// Parses a number as `inet_aton` does: decimal, hexadecimal after 0x, octal after 0.
    private static func number(_ text: ArraySlice<UInt8>) -> UInt64? {
        guard let first = text.first else { return nil }
        var digits = text
        var base: UInt64 = 10
        if first == UInt8(ascii: "0"), text.count > 1 {
            let isHexadecimal = text.dropFirst().first?.asciiLowercased == UInt8(ascii: "x")
            base = isHexadecimal ? 16 : 8
            digits = text.dropFirst(isHexadecimal ? 2 : 1)
        }
        var value: UInt64 = 0
        for byte in digits {
            guard let digit = hexadecimal(byte), digit < base else { return nil }
            // Larger values are capped, because no address can hold them.
            value = min(value * base + digit, 1 << 32)
        }
        return value
    }

    /// Parses the last two pieces of an IPv6 address that are written as an IPv4 address.
    ///
    /// Only plain decimal numbers are allowed here.
    private static func dottedTail(_ text: ArraySlice<UInt8>) -> [UInt16]? {
        let labels = text.split(separator: dot, omittingEmptySubsequences: false)
        let isPlain = labels.allSatisfy { label in
            label.allSatisfy(\.isDigit) && (label.count == 1 || label.first != UInt8(ascii: "0"))
        }
        let bytes = labels.compactMap { label in number(label).flatMap { UInt8(exactly: $0) } }
        guard isPlain, labels.count == 4, bytes.count == 4 else { return nil }
        return [UInt16(bytes[0]) << 8 | UInt16(bytes[1]), UInt16(bytes[2]) << 8 | UInt16(bytes[3])]
    }

    private static func bracketed(_ pieces: [UInt16]) -> String {
        if pieces.prefix(5).allSatisfy({ $0 == 0 }), pieces[5] == 0xFFFF {
            return "[::ffff:" + dotted(UInt64(pieces[6]) << 16 | UInt64(pieces[7])) + "]"
        }
        // RFC 5952 shortens the first of the longest runs of zeros, if it has at least two.
        var gap = 0..<0
        for start in pieces.indices {
            let row = pieces[start...].prefix { $0 == 0 }
            if row.count > max(1, gap.count) { gap = row.indices }
        }
        func joined(_ part: ArraySlice<UInt16>) -> String {
            part.map { String($0, radix: 16) }.joined(separator: ":")
        }
        guard !gap.isEmpty else { return "[" + joined(pieces[...]) + "]" }
        return "[" + joined(pieces[..<gap.lowerBound]) + "::" + joined(pieces[gap.upperBound...])
            + "]"
    }

    private static func dotted(_ address: UInt64) -> String {
        [24, 16, 8, 0].map { String(address >> UInt64($0) & 0xFF) }.joined(separator: ".")
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt64? {
        switch byte.asciiLowercased {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"):
            UInt64(byte.asciiLowercased - UInt8(ascii: "a")) + 10
        default: nil
        }
    }
}
