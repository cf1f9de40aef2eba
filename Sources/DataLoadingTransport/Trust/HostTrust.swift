// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
package import Foundation

/// The part of a trust policy that applies to one host.
package struct HostTrust: Equatable, Sendable, OpaquelyMirrored {
    package var authorities: Data?
    package var pins: [String]?
    package var identity: ClientIdentity?
    package var fault: DataLoaderError?

    package static func == (left: HostTrust, right: HostTrust) -> Bool {
        left.pins == right.pins && left.fault == right.fault
            && isSame(left.authorities, right.authorities)
            && isSame(left.identity?.certificateChain, right.identity?.certificateChain)
            && isSame(left.identity?.privateKey, right.identity?.privateKey)
            && left.identity?.passphrase == right.identity?.passphrase
    }

    /// Compares without reading a bundle of authorities for each attempt.
    static func isSame(_ left: Data?, _ right: Data?) -> Bool {
        guard let left, let right, left.count == right.count else { return left == right }
        let isShared = left.withUnsafeBytes { bytes in
            right.withUnsafeBytes { $0.baseAddress == bytes.baseAddress }
        }
        return isShared || left == right
    }
}

extension ServerTrustPolicy {
    /// Returns the trust for the host of a URL's origin.
    package func trust(forHost host: String) -> HostTrust {
        // "example.com." is the same server, and must not bypass the policy for it.
        let name = host.utf8.last == UInt8(ascii: ".") ? String(host.dropLast()) : host
        let wildcard = Self.wildcard(for: name)
        return HostTrust(
            authorities: Self.find(name, wildcard, in: hostCertificateAuthorities)
                ?? certificateAuthorities,
            pins: Self.find(name, wildcard, in: pinnedPublicKeys),
            identity: Self.find(name, wildcard, in: clientIdentities),
            fault: fault)
    }

    private static func find<Value>(
        _ name: String, _ wildcard: String?, in values: [String: Value]
    ) -> Value? {
        if values.isEmpty { return nil }
        return values[name] ?? wildcard.flatMap { values[$0] }
    }

    private static func wildcard(for name: String) -> String? {
        guard let dot = name.utf8.firstIndex(of: UInt8(ascii: ".")), !endsInNumber(name) else {
            return nil
        }
        return "*" + name[dot...]
    }

    /// Returns whether the last label starts with a digit: such a host is an IPv4 address or
    /// invalid.
    private static func endsInNumber(_ name: String) -> Bool {
        name.utf8.split(separator: UInt8(ascii: ".")).last?.first?.isDigit ?? false
    }

    /// Describes the first malformed part without quoting it; nil when there is none.
    static func malformedPart(of policy: ServerTrustPolicy) -> String? {
        let patterns = [
            Array(policy.pinnedPublicKeys.keys), Array(policy.hostCertificateAuthorities.keys),
            Array(policy.clientIdentities.keys),
        ]
        guard patterns.allSatisfy({ $0.allSatisfy(isPattern) }) else {
            return "a pattern is neither a lower-case host nor *. and a name of two labels"
        }
        guard policy.pinnedPublicKeys.values.allSatisfy({ $0.allSatisfy(isPin) }) else {
            return "a pin is not the base64 of a SHA-256 digest"
        }
        let authorities =
            Array(policy.hostCertificateAuthorities.values)
            + (policy.certificateAuthorities.map { [$0] } ?? [])
        let chains = policy.clientIdentities.values.map(\.certificateChain)
        guard (authorities + chains).allSatisfy({ contains("BEGIN CERTIFICATE-----", in: $0) })
        else { return "certificates are not in PEM form" }
        let keys = policy.clientIdentities.values.map(\.privateKey)
        guard keys.allSatisfy({ contains("PRIVATE KEY-----", in: $0) }) else {
            return "a private key is not in PEM form"
        }
        return nil
    }

    private static func isPin(_ pin: String) -> Bool {
        Data(base64Encoded: pin)?.count == 32
    }

    private static func isPattern(_ pattern: String) -> Bool {
        let isWildcard = pattern.hasPrefix("*.")
        let name = isWildcard ? String(pattern.dropFirst(2)) : pattern
        if isWildcard, !name.utf8.contains(UInt8(ascii: ".")) || endsInNumber(name) { return false }
        // A pattern is compared with a URL's normalised host, so it must be normalised itself.
        guard let target = try? RequestTarget(text: "https://\(name)/"),
            target.origin.host == name, target.origin.port == 443
        else { return false }
        return name.utf8.first == UInt8(ascii: "[")
            || name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
                .allSatisfy { !$0.isEmpty }
    }

    /// Whether data holds certificates in PEM form, as far as can be seen without reading them.
    static func hasCertificates(_ data: Data) -> Bool {
        contains("BEGIN CERTIFICATE-----", in: data)
    }

    fileprivate static func contains(_ text: String, in data: Data) -> Bool {
        data.range(of: Data(text.utf8)) != nil
    }
}

extension ClientIdentity {
    /// Whether the certificates and the key are in PEM form, as far as can be seen without reading
    /// them.
    package var isPEM: Bool {
        ServerTrustPolicy.contains("BEGIN CERTIFICATE-----", in: certificateChain)
            && ServerTrustPolicy.contains("PRIVATE KEY-----", in: privateKey)
    }
}
