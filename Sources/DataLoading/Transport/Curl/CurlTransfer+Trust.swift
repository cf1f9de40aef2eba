// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import CCurl
    import Foundation

    extension CurlTransfer {
        /// Sets what the URL's host must show, and what it is shown.
        ///
        /// libcurl uses a connection again only for the same host name, with the same authorities,
        /// pins and certificate; it never uses one for another name that its certificate covers.
        func setTrust(_ trust: HostTrust) throws(DataLoaderError) {
            if let fault = trust.fault { throw fault }
            if let authorities = trust.authorities { try setAuthorities(authorities) }
            if let pins = trust.pins { try setPins(pins) }
            if let identity = trust.identity { try setIdentity(identity) }
        }

        private func setAuthorities(_ authorities: Data) throws(DataLoaderError) {
            if loop.library.keepsAuthorities, let path = AuthorityFiles.shared.path(of: authorities)
            {
                try set(CurlOption.certificateFile, text: path)
            } else {
                guard set(CurlOption.certificateAuthorities, blob: authorities) == 0 else {
                    throw .unsupported(reason: "private authorities need libcurl 7.77 or later")
                }
            }
            // Otherwise the system's directory of authorities would still be trusted.
            try set(CurlOption.certificatePath, pointer: nil)
        }

        private func setPins(_ pins: [String]) throws(DataLoaderError) {
            // A host that is listed without a key can show none of them: refuse it.
            guard !pins.isEmpty else { throw .pin }
            let text = pins.map { "sha256//" + $0 }.joined(separator: ";")
            guard ccurl_set_pointer(easy, CurlOption.pinnedPublicKey, text) == 0 else {
                throw .unsupported(reason: "libcurl cannot pin keys")
            }
        }

        private func setIdentity(_ identity: ClientIdentity) throws(DataLoaderError) {
            // libcurl stores the bytes whatever TLS library it has, most of which then ignore them.
            guard loop.library.takesIdentities,
                set(CurlOption.clientCertificate, blob: identity.certificateChain) == 0,
                set(CurlOption.clientKey, blob: identity.privateKey) == 0
            else {
                throw .unsupported(reason: "client certificates need libcurl 7.71 with OpenSSL")
            }
            try set(CurlOption.clientCertificateType, text: "PEM")
            try set(CurlOption.clientKeyType, text: "PEM")
            // Without one OpenSSL would ask at the terminal for that of an encrypted key, and the
            // loop would wait for the answer.
            try set(CurlOption.clientKeyPassphrase, text: identity.passphrase ?? "")
        }

        private func set(_ option: Int32, blob: Data) -> Int32 {
            blob.withUnsafeBytes { bytes in
                var blob = ccurl_blob(
                    data: UnsafeMutableRawPointer(mutating: bytes.baseAddress),
                    length: bytes.count, flags: 1)  // CURL_BLOB_COPY
                return ccurl_set_pointer(easy, option, &blob)
            }
        }
    }
#endif
