// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingSupport
public import Foundation

/// A client certificate with its private key, for mutual TLS.
///
/// Descriptions, mirrors and logs show no part of it. It requires libcurl 7.71 or later with
/// OpenSSL; elsewhere loads end with `.unsupported`. With a key that does not match or cannot be
/// read they end with `.certificate`, before the handshake.
public struct ClientIdentity: Hashable, Sendable, OpaquelyMirrored {
    package let certificateChain: Data
    package let privateKey: Data
    package let passphrase: String?

    /// Makes an identity.
    ///
    /// - Parameters:
    ///   - certificateChain: PEM text, the certificate first, then the intermediate certificates.
    ///   - privateKey: PEM text of the first certificate's key.
    ///   - passphrase: The passphrase of the key; nil for an unencrypted one.
    public init(certificateChain: Data, privateKey: Data, passphrase: String? = nil) {
        self.certificateChain = certificateChain
        self.privateKey = privateKey
        self.passphrase = passphrase
    }
}

extension ClientIdentity: CustomStringConvertible {
    /// A fixed text that shows nothing of the identity.
    public var description: String { "client identity" }
}
