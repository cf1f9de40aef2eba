// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The hosts that are loaded without a proxy: names and addresses, with or without a port, and
/// domains.
struct DirectHosts: Hashable, Sendable {
    private struct Place: Hashable, Sendable {
        let host: String
        /// Nil for every port.
        let port: UInt16?
    }

    private var places: Set<Place> = []
    /// With the dot before them.
    private var domains: [Place] = []

    init(_ hosts: [String]) throws(RequestFault) {
        for text in hosts {
            let isDomain = text.utf8.first == UInt8(ascii: ".")
            let host = isDomain ? String(text.dropFirst()) : text
            let target = try RequestTarget(text: "http://\(host)/")
            // Otherwise the text was more than an authority, or the port has no digits.
            guard !host.utf8.contains(where: { "/?#".utf8.contains($0) }),
                host.utf8.last != UInt8(ascii: ":")
            else { throw .host }
            let isBracket = host.utf8.last == UInt8(ascii: "]")
            let hasPort = !isBracket && host.utf8.contains(UInt8(ascii: ":"))
            let port = hasPort ? target.origin.port : nil
            let name = Self.withoutRoot(target.origin.host)
            if isDomain {
                domains.append(Place(host: "." + name, port: port))
            } else {
                places.insert(Place(host: name, port: port))
            }
        }
    }

    func contains(_ origin: Origin) -> Bool {
        let host = Self.withoutRoot(origin.host)
        return places.contains(Place(host: host, port: nil))
            || places.contains(Place(host: host, port: origin.port))
            || domains.contains { domain in
                host.hasSuffix(domain.host) && (domain.port ?? origin.port) == origin.port
            }
    }

    /// "example.com." is the same server as "example.com".
    private static func withoutRoot(_ host: String) -> String {
        host.utf8.last == UInt8(ascii: ".") ? String(host.dropLast()) : host
    }
}
