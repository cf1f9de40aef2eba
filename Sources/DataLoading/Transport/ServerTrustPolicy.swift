// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Which servers are trusted beyond, or more narrowly than, the system's certificate authorities,
/// and which of them are shown a certificate of one's own.
///
/// Keys are host patterns: a lower-case name or address as it stands in a URL, or `*.example.com`
/// for every name with exactly one label more (RFC 6125), which never stands for an address. The
/// exact name wins. Ports do not matter.
///
/// Hosts that no pattern names keep the system's trust, or `certificateAuthorities` where those are
/// set. There is no way to accept every certificate. While a part is malformed nothing is sent to
/// any https host: loads end `.certificate`, and `validate()` says so beforehand.
public struct ServerTrustPolicy: Hashable, Sendable {
    /// Certificate authorities in PEM form, in place of the system's for every https host.
    ///
    /// Default nil: the system's. To trust both, append one's own to the system's bundle.
    public var certificateAuthorities: Data? { didSet { check() } }
    /// Certificate authorities in PEM form, by host pattern, in place of those for all hosts.
    public var hostCertificateAuthorities: [String: Data] = [:] { didSet { check() } }
    /// Base64 SHA-256 digests of subject public keys, by host pattern.
    ///
    /// A listed host must have a trusted certificate with one of its keys, on fallback addresses and
    /// reused connections too; with an empty list it is refused. List a backup beside the current
    /// key, one that is kept off the server: when the current key is lost or stolen, clients that
    /// know no other can reach the server no more until they are released anew.
    public var pinnedPublicKeys: [String: [String]] { didSet { check() } }
    /// What this program proves itself with, by host pattern; other hosts are shown nothing.
    ///
    /// A redirect takes no identity along: each host that is led to has its own or none.
    public var clientIdentities: [String: ClientIdentity] = [:] { didSet { check() } }
    /// What is malformed.
    private(set) var fault: DataLoaderError?

    /// Makes a policy.
    public init(certificateAuthorities: Data? = nil, pinnedPublicKeys: [String: [String]] = [:]) {
        self.certificateAuthorities = certificateAuthorities
        self.pinnedPublicKeys = pinnedPublicKeys
        check()
    }

    /// Throws `.certificate` when a pattern, a pin or PEM text is malformed; for a program's start.
    ///
    /// Whether a key belongs to its certificate shows when it is used.
    public func validate() throws(DataLoaderError) {
        if let fault { throw fault }
    }

    private mutating func check() {
        fault = Self.malformedPart(of: self).map { .certificate(reason: "trust policy: \($0)") }
    }
}

extension ServerTrustPolicy: CustomStringConvertible {
    /// How much there is of each; never a pin, a certificate or a key.
    public var description: String {
        let authorities = certificateAuthorities == nil ? "system" : "private"
        return "\(authorities) authorities, \(hostCertificateAuthorities.count) by host, "
            + "\(pinnedPublicKeys.count) pinned hosts, \(clientIdentities.count) identities"
    }
}
