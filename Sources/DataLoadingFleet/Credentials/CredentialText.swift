// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingAuth
import Foundation

/// Credentials as the server keeps them: JSON, or what a seal makes of it, in Base64.
struct CredentialText: Sendable {
    let seal: CredentialSeal?

    /// The text of credentials; throws `AuthorisationError.store` when the seal does.
    func text(of credentials: OAuthCredentials) throws -> String {
        do {
            let bytes = try JSONEncoder().encode(credentials)
            guard let seal else { return String(decoding: bytes, as: UTF8.self) }
            return try seal.seal(bytes).base64EncodedString()
        } catch {
            throw AuthorisationError.store(reason: "the credentials cannot be sealed")
        }
    }

    /// Reads them, nil for none; throws `AuthorisationError.store` for what is not such a text.
    func credentials(of bytes: [UInt8]?) throws -> OAuthCredentials? {
        guard let bytes else { return nil }
        let json = try opened(Data(bytes))
        do {
            return try JSONDecoder().decode(OAuthCredentials.self, from: json)
        } catch {
            throw AuthorisationError.store(reason: "the credentials are broken")
        }
    }

    private func opened(_ data: Data) throws -> Data {
        guard let seal else { return data }
        guard let sealed = Data(base64Encoded: data) else {
            throw AuthorisationError.store(reason: "the credentials are not sealed")
        }
        do {
            return try seal.open(sealed)
        } catch {
            throw AuthorisationError.store(reason: "the seal does not open the credentials")
        }
    }
}
