// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingAuth
import Foundation

/// Credentials as the server keeps them: JSON, or what a seal makes of it, in Base64.
struct CredentialText: Sendable {
    let seal: CredentialSeal?

    func text(of credentials: OAuthCredentials) throws -> String {
        do {
            let bytes = try JSONEncoder().encode(credentials)
            guard let seal else { return String(decoding: bytes, as: UTF8.self) }
            return try seal.seal(bytes).base64EncodedString()
        } catch {
            throw AuthorisationError.store(reason: "cannot be sealed")
        }
    }

    /// Reads them; nil for none.
    func credentials(of bytes: [UInt8]?) throws -> OAuthCredentials? {
        guard let bytes else { return nil }
        do {
            var data = Data(bytes)
            if let seal {
                guard let sealed = Data(base64Encoded: data) else {
                    throw AuthorisationError.store(reason: "is not sealed")
                }
                data = try seal.open(sealed)
            }
            return try JSONDecoder().decode(OAuthCredentials.self, from: data)
        } catch let error as AuthorisationError {
            throw error
        } catch {
            throw AuthorisationError.store(reason: "cannot be read")
        }
    }
}
