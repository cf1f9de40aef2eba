// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import CCurl
import Foundation

extension CurlHandle {
    /// Sets the certificates that the URL's host must show, and the one that it is shown.
    func setTrust(
        _ trust: HostTrust, library: CurlLibrary
    ) throws(DataLoaderError) {
        if let fault = trust.fault { throw fault }
        if let authorities = trust.authorities { try setAuthorities(authorities, library) }
        if let pins = trust.pins { try setPins(pins) }
        if let identity = trust.identity { try setIdentity(identity, library) }
    }

    private func setAuthorities(
        _ authorities: Data, _ library: CurlLibrary
    ) throws(DataLoaderError) {
        if library.cachesAuthorities,
            let path = AuthorityFiles.shared.path(of: authorities)
        {
            try set(CurlOption.certificateFile, text: path)
        } else {
            guard set(CurlOption.certificateAuthorities, blob: authorities) == 0 else {
                throw .unsupported(reason: "private authorities need libcurl 7.77 or later")
            }
        }
        // Otherwise libcurl would still trust the system's directory of authorities.
        try set(CurlOption.certificatePath, pointer: nil)
    }

    private func setPins(_ pins: [String]) throws(DataLoaderError) {
        // A host that is listed without a key cannot show any, so it is refused.
        guard !pins.isEmpty else { throw .pin }
        let text = pins.map { "sha256//" + $0 }.joined(separator: ";")
        guard ccurl_set_pointer(easy, CurlOption.pinnedPublicKey, text) == 0 else {
            throw .unsupported(reason: "libcurl cannot pin keys")
        }
    }

    private func setIdentity(
        _ identity: ClientIdentity, _ library: CurlLibrary
    ) throws(DataLoaderError) {
        // libcurl stores the bytes with any TLS library, and most libraries then ignore them.
        guard library.supportsIdentities,
            set(CurlOption.clientCertificate, blob: identity.certificateChain) == 0,
            set(CurlOption.clientKey, blob: identity.privateKey) == 0
        else {
            throw .unsupported(reason: "client certificates need libcurl 7.71 with OpenSSL")
        }
        try set(CurlOption.clientCertificateType, text: "PEM")
        try set(CurlOption.clientKeyType, text: "PEM")
        // Without a passphrase OpenSSL would ask for that of an encrypted key at the terminal,
        // and block the loop.
        try set(CurlOption.clientKeyPassphrase, text: identity.passphrase ?? "")
    }
}
