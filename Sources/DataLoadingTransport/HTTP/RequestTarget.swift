// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
package import Foundation

/// The origin, path and query of a URL, parsed byte by byte from its text.
///
/// A load parses its URL and each `Location` with this type before it sends a request. The
/// transports of this package parse the URL of each attempt with it again, because
/// `TransportRequest` does not check its URL. A byte that is not allowed is therefore refused by
/// the same rules everywhere.
///
/// A class, because a load keeps it in several places and hands it on at most steps: a reference is
/// a third of the size, and is copied without two of its own.
package final class RequestTarget: Hashable, Sendable {
    package let origin: Origin
    /// The path and query, as they are sent in the request line; at least "/".
    package let pathAndQuery: String

    /// Parses a URL, or throws the fault of the part that is not allowed on the wire.
    package convenience init(_ url: URL) throws(RequestFault) {
        try self.init(text: url.absoluteString)
    }

    /// Parses the text of an absolute URL.
    package init(text: String) throws(RequestFault) {
        // Reading contiguous bytes is several times as fast as reading a UTF-8 view.
        var bytes = Array(text.utf8)[...]
        let isSecure = try Self.takeScheme(&bytes)
        let authorityEnd = bytes.firstIndex(where: Self.endsAuthority) ?? bytes.endIndex
        origin = try Self.origin(bytes[..<authorityEnd], isSecure: isSecure)
        let target = bytes[authorityEnd...].prefix { $0 != UInt8(ascii: "#") }
        guard target.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { throw .target }
        guard let first = target.first else {
            pathAndQuery = "/"
            return
        }
        let text = String(decoding: target, as: UTF8.self)
        pathAndQuery = first == UInt8(ascii: "/") ? text : "/" + text
    }

    package static func == (left: RequestTarget, right: RequestTarget) -> Bool {
        left === right || left.origin == right.origin && left.pathAndQuery == right.pathAndQuery
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(origin)
        hasher.combine(pathAndQuery)
    }

    /// The first component of the path; nil for the root.
    package var firstPathComponent: Substring? {
        let path = pathAndQuery.utf8.dropFirst().prefix {
            $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?")
        }
        return path.isEmpty ? nil : Substring(path)
    }

    /// The text of the URL without its fragment, as transports receive it.
    package var urlText: String {
        let standard: UInt16 = origin.isSecure ? 443 : 80
        let port = origin.port == standard ? "" : ":\(origin.port)"
        // In one allocation; a sum of strings makes one for each.
        var text = ""
        text.reserveCapacity(
            8 + origin.host.utf8.count + port.utf8.count + pathAndQuery.utf8.count)
        text += origin.isSecure ? "https://" : "http://"
        text += origin.host
        text += port
        text += pathAndQuery
        return text
    }

    private static func takeScheme(
        _ bytes: inout ArraySlice<UInt8>
    ) throws(RequestFault) -> Bool {
        if take("http://", from: &bytes) { return false }
        if take("https://", from: &bytes) { return true }
        throw .scheme
    }

    private static func take(_ scheme: String, from bytes: inout ArraySlice<UInt8>) -> Bool {
        guard bytes.starts(with: scheme.utf8, by: { $0.asciiLowercased == $1 }) else {
            return false
        }
        bytes = bytes.dropFirst(scheme.utf8.count)
        return true
    }

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    private static func origin(
        _ authority: ArraySlice<UInt8>, isSecure: Bool
    ) throws(RequestFault) -> Origin {
        guard !authority.contains(UInt8(ascii: "@")) else { throw .userInformation }
        let hostEnd: Int
        let host: String
        if authority.first == UInt8(ascii: "[") {
            guard let bracket = authority.firstIndex(of: UInt8(ascii: "]")) else { throw .host }
            hostEnd = bracket + 1
            let inner = authority[..<bracket].dropFirst()
            guard let address = NumericHost.version6(inner) else { throw .host }
            host = address
        } else {
            hostEnd = authority.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
            let name = authority[..<hostEnd]
            guard !name.isEmpty, name.allSatisfy(isHostByte) else { throw .host }
            host =
                try NumericHost.version4(name)
                ?? String(decoding: name, as: UTF8.self).asciiLowercased
        }
        let port = try port(authority[hostEnd...], isSecure: isSecure)
        return Origin(isSecure: isSecure, host: host, port: port)
    }

    private static func port(
        _ text: ArraySlice<UInt8>, isSecure: Bool
    ) throws(RequestFault) -> UInt16 {
        let standard: UInt16 = isSecure ? 443 : 80
        guard let colon = text.first else { return standard }
        guard colon == UInt8(ascii: ":") else { throw .host }
        let digits = text.dropFirst()
        guard !digits.isEmpty else { return standard }
        guard digits.allSatisfy(\.isDigit),
            let port = UInt16(String(decoding: digits, as: UTF8.self)), port > 0
        else { throw .port }
        return port
    }

    // DNS names have letters, digits, "-", "." and "_"; "%" is refused because it can hide other
    // bytes.
    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte.asciiLowercased {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
