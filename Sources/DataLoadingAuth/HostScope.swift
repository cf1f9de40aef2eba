// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTransport
import Foundation

/// The hosts that may receive a secret, and whether plain http is allowed.
struct HostScope: Sendable {
    /// One host as an authoriser's setting names it.
    private struct Place: Hashable, Sendable {
        enum Port: Hashable, Sendable {
            /// The scheme's default port.
            case standard
            case one(UInt16)
            case any
        }

        let host: String
        let port: Port
    }

    /// The error of malformed or missing hosts; nil when they are valid.
    let fault: DataLoaderError?
    private let places: Set<Place>
    private let allowsPlainLoopback: Bool
    private let sparesOwn: Bool
    private static let loopback: Set<String> = ["127.0.0.1", "[::1]", "localhost"]

    /// Makes a scope; with `sparesOwn` it skips requests that have an `Authorization` field.
    init(_ hosts: Set<String>, allowsPlainLoopback: Bool, sparesOwn: Bool = true) {
        self.sparesOwn = sparesOwn
        self.allowsPlainLoopback = allowsPlainLoopback
        places = Set(hosts.compactMap(Self.place))
        let isWhole = hosts.allSatisfy { Self.place($0) != nil }
        fault = isWhole ? (hosts.isEmpty ? .noHosts : nil) : .malformedHosts
    }

    /// Whether a request goes safely to one of the hosts, and is not skipped.
    ///
    /// Also true when the hosts are malformed, so that the caller can refuse the request.
    func covers(_ request: DataLoaderRequest) -> Bool {
        guard !isLeftAlone(request) else { return false }
        guard fault == nil else { return true }
        guard let origin = safeOrigin(of: request) else { return false }
        let standard: UInt16 = origin.isSecure ? 443 : 80
        return places.contains(Place(host: origin.host, port: .one(origin.port)))
            || places.contains(Place(host: origin.host, port: .any))
            || origin.port == standard
                && places.contains(Place(host: origin.host, port: .standard))
    }

    /// Whether a request goes to any host safely, and is not skipped.
    func isSafe(_ request: DataLoaderRequest) -> Bool {
        !isLeftAlone(request) && safeOrigin(of: request) != nil
    }

    private func isLeftAlone(_ request: DataLoaderRequest) -> Bool {
        // RFC 9110 section 9.3.8: the response to a TRACE repeats what was sent.
        request.method == .trace || sparesOwn && request.headers.contains("Authorization")
    }

    private func safeOrigin(of request: DataLoaderRequest) -> Origin? {
        guard let origin = try? request.target.origin,
            origin.isSecure || (allowsPlainLoopback && Self.loopback.contains(origin.host))
        else { return nil }
        return origin
    }

    // Parses "host", "host:port" or "host:*"; nil for anything else. An IPv6 address without a port
    // may be written without brackets.
    private static func place(_ text: String) -> Place? {
        let takesAny = text.hasSuffix(":*")
        var host = takesAny ? String(text.dropLast(2)) : text
        if !host.hasPrefix("["), host.utf8.count(where: { $0 == UInt8(ascii: ":") }) > 1 {
            host = "[\(host)]"
        }
        let hasPort =
            host.utf8.last != UInt8(ascii: "]") && host.utf8.contains(UInt8(ascii: ":"))
        guard !host.utf8.contains(where: { "/?#".utf8.contains($0) }),
            host.utf8.last != UInt8(ascii: ":"), !(takesAny && hasPort),
            let origin = try? RequestTarget(text: "https://" + host).origin
        else { return nil }
        return Place(
            host: origin.host, port: takesAny ? .any : hasPort ? .one(origin.port) : .standard)
    }
}
