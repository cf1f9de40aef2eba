// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Encrypts credentials before they leave the process, and decrypts what comes back.
///
/// The package has no cipher of its own: give functions of a library that authenticates what it
/// encrypts, such as AES-GCM. Without a seal the server, its backups and every process that may
/// read its memory have the refresh token.
public struct CredentialSeal: Sendable {
    let seal: @Sendable (Data) throws -> Data
    let open: @Sendable (Data) throws -> Data

    /// Makes a seal of two functions; what `open` throws makes the stored credentials unreadable.
    public init(
        seal: @escaping @Sendable (Data) throws -> Data,
        open: @escaping @Sendable (Data) throws -> Data
    ) {
        self.seal = seal
        self.open = open
    }
}
