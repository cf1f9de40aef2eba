// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A certificate with its key, by which this program proves to a server who it is (mutual TLS).
///
/// No part of it is in a description, a mirror or a log. Needs libcurl 7.71 or later with OpenSSL;
/// elsewhere loads end `.unsupported`, and with a key that does not fit or cannot be read
/// `.certificate`, before the handshake.
public struct ClientIdentity: Hashable, Sendable {
    let certificateChain: Data
    let privateKey: Data
    let passphrase: String?

    /// Makes an identity.
    ///
    /// - Parameters:
    ///   - certificateChain: PEM text, the certificate first, then those that lead to its authority.
    ///   - privateKey: PEM text of the first certificate's key.
    ///   - passphrase: What the key is encrypted with; nil for a plain one.
    public init(certificateChain: Data, privateKey: Data, passphrase: String? = nil) {
        self.certificateChain = certificateChain
        self.privateKey = privateKey
        self.passphrase = passphrase
    }
}

extension ClientIdentity: CustomStringConvertible {
    /// That there is one.
    public var description: String { "client identity" }
}
