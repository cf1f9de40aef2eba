// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Which servers are trusted beyond, or more narrowly than, the system's certificate authorities.
///
/// Hosts that no pattern names keep the system's trust. There is no way to accept every certificate.
public struct ServerTrustPolicy: Hashable, Sendable {
    /// Certificate authorities in PEM form that are trusted for every https host; nil for the system's.
    public var certificateAuthorities: Data?
    /// Base64 SHA-256 digests of subject public keys, by exact lower-case host name.
    ///
    /// A listed host must present one of its keys, on fallback addresses and reused connections too.
    /// List a backup key beside the current one.
    public var pinnedPublicKeys: [String: [String]]

    /// Makes a policy.
    public init(certificateAuthorities: Data? = nil, pinnedPublicKeys: [String: [String]] = [:]) {
        self.certificateAuthorities = certificateAuthorities
        self.pinnedPublicKeys = pinnedPublicKeys
    }
}

extension ServerTrustPolicy: CustomStringConvertible {
    /// How much there is of either; never a pin.
    public var description: String {
        let authorities = certificateAuthorities == nil ? "system" : "private"
        return "\(authorities) authorities, \(pinnedPublicKeys.count) pinned hosts"
    }
}
