// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// The address of a Redis or Valkey server.
///
/// ```swift
/// let endpoints = [
///     try RedisEndpoint("rediss://redis-1.internal:6380"),
///     try RedisEndpoint("rediss://redis-2.internal:6380"),
/// ]
/// ```
/// `redis://host:port` is plain, `rediss://host:port` has TLS, and `unix:///path` is a Unix-domain
/// socket. The default port is 6379. User and password belong to the configuration, not to the
/// address, so that an address can be logged.
public struct RedisEndpoint: Hashable, Sendable {
    enum Place: Hashable, Sendable {
        case network(host: String, port: UInt16, isSecure: Bool)
        case socket(path: String)
    }

    let place: Place

    /// The host and port, or the path, for metrics.
    var server: StoreOperations.Server {
        switch place {
        case .network(let host, let port, _): StoreOperations.Server(address: host, port: port)
        case .socket(let path): StoreOperations.Server(address: path, port: nil)
        }
    }

    /// Parses a URL.
    ///
    /// - Throws: `RedisEndpointError`, which says what of it is wrong.
    public init(_ url: String) throws(RedisEndpointError) {
        for (scheme, isSecure) in [("redis://", false), ("rediss://", true)] {
            guard let rest = Self.rest(of: url, after: scheme) else { continue }
            place = try Self.network(rest, isSecure: isSecure)
            return
        }
        guard let path = Self.rest(of: url, after: "unix://") else { throw .scheme }
        // The longest path that fits into the address, with a zero byte at its end.
        guard path.first == UInt8(ascii: "/"), path.count <= 107,
            path.allSatisfy({ $0 > 0x20 && $0 != 0x7F && !"?#%".utf8.contains($0) })
        else { throw .socketPath }
        place = .socket(path: String(Substring(path)))
    }

    private static func rest(of url: String, after scheme: String) -> Substring.UTF8View? {
        let bytes = url.utf8
        guard String(decoding: bytes.prefix(scheme.utf8.count), as: UTF8.self) == scheme else {
            return nil
        }
        return bytes.dropFirst(scheme.utf8.count)
    }

    private static func network(
        _ rest: Substring.UTF8View, isSecure: Bool
    ) throws(RedisEndpointError) -> Place {
        let text = String(decoding: rest, as: UTF8.self)
        let plain = try target("http://" + text)
        let secure = try target("https://" + text)
        guard plain.pathAndQuery == "/", !text.utf8.contains(UInt8(ascii: "?")),
            !text.utf8.contains(UInt8(ascii: "#"))
        else { throw .path }
        // Without a port each has that of its scheme.
        let port = plain.origin.port == secure.origin.port ? plain.origin.port : 6_379
        return .network(host: plain.origin.host, port: port, isSecure: isSecure)
    }

    private static func target(_ text: String) throws(RedisEndpointError) -> RequestTarget {
        do throws(RequestFault) {
            return try RequestTarget(text: text)
        } catch {
            switch error {
            case .port: throw .port
            case .userInformation: throw .userInformation
            case .target: throw .path
            default: throw .host
            }
        }
    }
}

extension RedisEndpoint: CustomStringConvertible {
    /// The URL, with its port.
    public var description: String {
        switch place {
        case .network(let host, let port, let isSecure):
            (isSecure ? "rediss://" : "redis://") + "\(host):\(port)"
        case .socket(let path): "unix://" + path
        }
    }
}
