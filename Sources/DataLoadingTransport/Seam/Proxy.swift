// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
public import Foundation

/// An HTTP proxy, and the hosts that are loaded without it.
///
/// Plain http is requested from the proxy in absolute form (RFC 9112 section 3.2.2). For https the
/// proxy opens a tunnel (CONNECT, RFC 9110 section 9.3.6), in which TLS, certificate checks and
/// HTTP/2 are as without a proxy.
///
/// ```swift
/// configuration.proxy = try Proxy(
///     "http://proxy.example.com:3128", directHosts: Proxy.loopbackHosts + [".example.com"])
/// ```
public struct Proxy: Hashable, Sendable {
    /// What it was made with: one object, so that a request without a proxy is no larger for it.
    private final class Setting: Sendable {
        let origin: Origin
        let directHosts: [String]
        let direct: DirectHosts
        let authorities: Data?

        init(_ origin: Origin, _ directHosts: [String], _ direct: DirectHosts, _ authorities: Data?)
        {
            self.origin = origin
            self.directHosts = directHosts
            self.direct = direct
            self.authorities = authorities
        }
    }

    /// The names of this machine: the default of `directHosts`.
    public static let loopbackHosts = ["localhost", "127.0.0.1", "[::1]"]

    private let setting: Setting

    /// The hosts that are loaded without the proxy.
    public var directHosts: [String] { setting.directHosts }
    /// Certificate authorities in PEM form for the TLS connection to an https proxy; nil for the
    /// system's.
    public var certificateAuthorities: Data? { setting.authorities }
    /// Where the proxy listens.
    package var origin: Origin { setting.origin }

    /// Makes a proxy.
    ///
    /// - Parameters:
    ///   - url: `http` or `https`, the host and the port; the default port is 80 or 443. It has no
    ///     user information: credentials come from `proxyAuthoriser` of a configuration.
    ///   - directHosts: Hosts that are loaded without the proxy, with or without a port; without one
    ///     every port is meant. ".example.com" is every name below example.com, and not the name
    ///     itself. Default: this machine, which a proxy elsewhere would take for itself.
    ///   - certificateAuthorities: Authorities in PEM form that replace the system's for the
    ///     connection to an https proxy; default nil.
    /// - Throws: `.invalidConfiguration` when one of them is malformed.
    public init(
        _ url: String, directHosts: [String] = Proxy.loopbackHosts,
        certificateAuthorities: Data? = nil
    ) throws(DataLoaderError) {
        let origin = try Self.origin(url)
        let direct: DirectHosts
        do throws(RequestFault) {
            direct = try DirectHosts(directHosts)
        } catch {
            throw .malformed("Proxy.directHosts", "are not all hosts or domains")
        }
        if let certificateAuthorities, !ServerTrustPolicy.hasCertificates(certificateAuthorities) {
            throw .malformed("Proxy.certificateAuthorities", "are not in PEM form")
        }
        setting = Setting(origin, directHosts, direct, certificateAuthorities)
    }

    private static func origin(_ url: String) throws(DataLoaderError) -> Origin {
        do throws(RequestFault) {
            let target = try RequestTarget(text: url)
            guard target.pathAndQuery == "/", !url.utf8.contains(UInt8(ascii: "#")) else {
                throw .target
            }
            return target.origin
        } catch .userInformation {
            throw .malformed("Proxy.url", "has user information")
        } catch {
            throw .malformed("Proxy.url", "is not http or https, a host and a port")
        }
    }

    /// Whether an origin is loaded through the proxy.
    package func covers(_ origin: Origin) -> Bool { !setting.direct.contains(origin) }

    /// Whether both are the same proxy; bundles of authorities are compared only where they differ.
    public static func == (left: Proxy, right: Proxy) -> Bool {
        if left.setting === right.setting { return true }
        return left.origin == right.origin && left.setting.direct == right.setting.direct
            && HostTrust.isSame(left.certificateAuthorities, right.certificateAuthorities)
    }

    /// Hashes where it listens.
    public func hash(into hasher: inout Hasher) { hasher.combine(origin) }
}

extension Proxy: CustomStringConvertible {
    /// The URL.
    public var description: String { origin.description }
}
