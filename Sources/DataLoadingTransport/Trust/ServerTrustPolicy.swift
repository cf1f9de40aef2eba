// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingSupport
public import Foundation

/// The certificates that servers must show, and the client certificates that they are shown.
///
/// Pins apply in addition to the certificate authorities. `certificateAuthorities` and
/// `hostCertificateAuthorities` replace the system's.
///
/// Keys are host patterns: a lower-case name or address as in a URL, or `*.example.com` for every
/// name with exactly one more label (RFC 6125), which never matches an address. The exact name
/// takes precedence. Ports are ignored.
///
/// Hosts without a pattern use the system's authorities, or `certificateAuthorities` if set. No
/// setting accepts every certificate. While a part is malformed nothing is sent to any https host:
/// loads end with `.certificate`, and `validate()` reports it beforehand.
public struct ServerTrustPolicy: Hashable, Sendable, OpaquelyMirrored {
    /// Certificate authorities in PEM form that replace the system's for every https host.
    ///
    /// Default nil: the system's. To trust both, append your own to the system's bundle.
    public var certificateAuthorities: Data? { didSet { check() } }
    /// Certificate authorities in PEM form, by host pattern, that replace those for all hosts.
    public var hostCertificateAuthorities: [String: Data] = [:] { didSet { check() } }
    /// Base64 SHA-256 digests of subject public keys, by host pattern.
    ///
    /// A listed host must show a trusted certificate with one of its keys, on fallback addresses
    /// and reused connections too. With an empty list it is refused. List a backup key beside the
    /// current one, and keep it off the server: when the current key is lost or stolen, clients
    /// that know no other cannot reach the server until they are released anew.
    public var pinnedPublicKeys: [String: [String]] { didSet { check() } }
    /// Client identities, by host pattern; other hosts are shown none.
    ///
    /// An identity does not follow a redirect: each host that the redirect leads to has its own or
    /// none.
    public var clientIdentities: [String: ClientIdentity] = [:] { didSet { check() } }
    /// The error of the first malformed part.
    package private(set) var fault: DataLoaderError?

    /// Makes a policy.
    public init(certificateAuthorities: Data? = nil, pinnedPublicKeys: [String: [String]] = [:]) {
        self.certificateAuthorities = certificateAuthorities
        self.pinnedPublicKeys = pinnedPublicKeys
        check()
    }

    /// Throws `.certificate` when a pattern, a pin or PEM text is malformed; call it at the
    /// program's start.
    ///
    /// Whether a key matches its certificate is checked when it is used.
    public func validate() throws(DataLoaderError) {
        if let fault { throw fault }
    }

    private mutating func check() {
        fault = Self.malformedPart(of: self).map { .certificate(reason: "trust policy: \($0)") }
    }
}

extension ServerTrustPolicy: CustomStringConvertible {
    /// The number of entries of each kind, without any pin, certificate or key.
    public var description: String {
        let authorities = certificateAuthorities == nil ? "system" : "private"
        return "\(authorities) authorities, \(hostCertificateAuthorities.count) by host, "
            + "\(pinnedPublicKeys.count) pinned hosts, \(clientIdentities.count) identities"
    }
}
