// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import CCurl
import Foundation

extension CurlTransfer {
    /// Forgets the paths of the system's authorities for the peers that speak no TLS, since libcurl
    /// copies each of them for each transfer.
    ///
    /// A reset of the handle brings them back, and a handle is reset before it speaks TLS to another
    /// kind of peer. A libcurl without TLS does not know these options.
    func forgetAuthorities(_ shape: CurlShape) {
        if !shape.isSecure {
            _ = ccurl_set_pointer(easy, CurlOption.certificateFile, nil)
            _ = ccurl_set_pointer(easy, CurlOption.certificatePath, nil)
        }
        if shape.proxy?.origin.isSecure != true {
            _ = ccurl_set_pointer(easy, CurlOption.proxyCertificateFile, nil)
            _ = ccurl_set_pointer(easy, CurlOption.proxyCertificatePath, nil)
        }
    }

    /// Sets the certificates that the URL's host must show, and the one that it is shown.
    ///
    /// libcurl reuses a connection only for the same host name, with the same authorities, pins
    /// and certificate. It never uses a connection for another name that its certificate
    /// covers.
    func setTrust(_ trust: HostTrust) throws(DataLoaderError) {
        if let fault = trust.fault { throw fault }
        if let authorities = trust.authorities { try setAuthorities(authorities) }
        if let pins = trust.pins { try setPins(pins) }
        if let identity = trust.identity { try setIdentity(identity) }
    }

    private func setAuthorities(_ authorities: Data) throws(DataLoaderError) {
        if loop.library.cachesAuthorities,
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

    private func setIdentity(_ identity: ClientIdentity) throws(DataLoaderError) {
        // libcurl stores the bytes with any TLS library, and most libraries then ignore them.
        guard loop.library.supportsIdentities,
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

    func set(_ option: Int32, blob: Data) -> Int32 {
        blob.withUnsafeBytes { bytes in
            var blob = ccurl_blob(
                data: UnsafeMutableRawPointer(mutating: bytes.baseAddress),
                length: bytes.count, flags: 1)  // CURL_BLOB_COPY
            return ccurl_set_pointer(easy, option, &blob)
        }
    }
}
