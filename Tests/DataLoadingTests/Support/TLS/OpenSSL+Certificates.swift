// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    extension OpenSSL {
        /// The functions that make keys and certificates.
        struct CertificateFunctions: Sendable {
            let newKeyContext: @convention(c) (Int32, OpaquePointer?) -> OpaquePointer?
            let freeKeyContext: @convention(c) (OpaquePointer) -> Void
            let startKey: @convention(c) (OpaquePointer) -> Int32
            let controlKey:
                @convention(c) (
                    OpaquePointer, Int32, Int32, Int32, Int32, UnsafeMutableRawPointer?
                ) -> Int32
            let makeKey:
                @convention(c) (OpaquePointer, UnsafeMutablePointer<OpaquePointer?>) -> Int32
            let freeKey: @convention(c) (OpaquePointer) -> Void
            let encodePublicKey:
                @convention(c) (
                    OpaquePointer, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?
                ) -> Int32
            let digest:
                @convention(c) (UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<UInt8>) ->
                    UnsafeMutablePointer<UInt8>?
            let sha256: @convention(c) () -> OpaquePointer?

            let new: @convention(c) () -> OpaquePointer?
            let free: @convention(c) (OpaquePointer) -> Void
            let setVersion: @convention(c) (OpaquePointer, Int) -> Int32
            let serialNumber: @convention(c) (OpaquePointer) -> OpaquePointer?
            let setInteger: @convention(c) (OpaquePointer?, Int) -> Int32
            let notBefore: @convention(c) (OpaquePointer) -> OpaquePointer?
            let notAfter: @convention(c) (OpaquePointer) -> OpaquePointer?
            let adjustTime: @convention(c) (OpaquePointer?, Int) -> OpaquePointer?
            let subject: @convention(c) (OpaquePointer) -> OpaquePointer?
            let setIssuer: @convention(c) (OpaquePointer, OpaquePointer?) -> Int32
            let addEntry:
                @convention(c) (
                    OpaquePointer?, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, Int32,
                    Int32, Int32
                ) -> Int32
            let setPublicKey: @convention(c) (OpaquePointer, OpaquePointer) -> Int32
            let makeExtension:
                @convention(c) (OpaquePointer?, OpaquePointer?, Int32, UnsafePointer<CChar>) ->
                    OpaquePointer?
            let addExtension: @convention(c) (OpaquePointer, OpaquePointer, Int32) -> Int32
            let freeExtension: @convention(c) (OpaquePointer) -> Void
            let sign: @convention(c) (OpaquePointer, OpaquePointer, OpaquePointer?) -> Int32
            let writePEM: @convention(c) (OpaquePointer, OpaquePointer) -> Int32
            /// Buffer, key, cipher, passphrase with its length, and two unused parameters.
            let writeKey:
                @convention(c) (
                    OpaquePointer, OpaquePointer, OpaquePointer?, UnsafePointer<UInt8>?, Int32,
                    OpaquePointer?, OpaquePointer?
                ) -> Int32
            let aes256: @convention(c) () -> OpaquePointer?

            init(_ library: Library) throws {
                newKeyContext = try library.find("EVP_PKEY_CTX_new_id")
                freeKeyContext = try library.find("EVP_PKEY_CTX_free")
                startKey = try library.find("EVP_PKEY_keygen_init")
                controlKey = try library.find("EVP_PKEY_CTX_ctrl")
                makeKey = try library.find("EVP_PKEY_keygen")
                freeKey = try library.find("EVP_PKEY_free")
                encodePublicKey = try library.find("i2d_PUBKEY")
                digest = try library.find("SHA256")
                sha256 = try library.find("EVP_sha256")
                new = try library.find("X509_new")
                free = try library.find("X509_free")
                setVersion = try library.find("X509_set_version")
                serialNumber = try library.find("X509_get_serialNumber")
                setInteger = try library.find("ASN1_INTEGER_set")
                notBefore = try library.find("X509_getm_notBefore")
                notAfter = try library.find("X509_getm_notAfter")
                adjustTime = try library.find("X509_gmtime_adj")
                subject = try library.find("X509_get_subject_name")
                setIssuer = try library.find("X509_set_issuer_name")
                addEntry = try library.find("X509_NAME_add_entry_by_txt")
                setPublicKey = try library.find("X509_set_pubkey")
                makeExtension = try library.find("X509V3_EXT_conf_nid")
                addExtension = try library.find("X509_add_ext")
                freeExtension = try library.find("X509_EXTENSION_free")
                sign = try library.find("X509_sign")
                writePEM = try library.find("PEM_write_bio_X509")
                writeKey = try library.find("PEM_write_bio_PrivateKey")
                aes256 = try library.find("EVP_aes_256_cbc")
            }
        }
    }
#endif
