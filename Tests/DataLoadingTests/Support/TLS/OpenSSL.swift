// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    #if canImport(Glibc)
        import Glibc
    #else
        import Musl
    #endif

    /// The OpenSSL of libcurl, found at run time: no header is needed.
    ///
    /// It is found through libcurl, because two OpenSSLs in one process crash it: a libcurl in
    /// `LD_LIBRARY_PATH` may have an OpenSSL of its own.
    /// The prototypes are those of its stable binary interface, the same in 1.1 and 3.
    struct OpenSSL: Sendable {
        /// A function that the library does not have.
        struct Missing: Error {
            let name: String
        }

        /// Nil if there is none, for example where libcurl uses another TLS library.
        static let shared: OpenSSL? = {
            let names = ["libcurl.so.4", "libssl.so.3", "libssl.so.1.1"]
            return names.lazy.compactMap { name in
                guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { return nil }
                return try? OpenSSL(Library(handle: UInt(bitPattern: handle)))
            }.first
        }()

        let connections: ConnectionFunctions
        let certificates: CertificateFunctions

        private init(_ library: Library) throws {
            // OPENSSL_INIT_NO_ATEXIT, as in the transport, whichever comes first.
            let initialize: @convention(c) (UInt64, OpaquePointer?) -> Int32 =
                try library.find("OPENSSL_init_crypto")
            _ = initialize(0x0008_0000, nil)
            connections = try ConnectionFunctions(library)
            certificates = try CertificateFunctions(library)
        }

        /// A library that stays loaded.
        struct Library: Sendable {
            let handle: UInt

            /// Finds a function in the library or its dependencies.
            func find<Function>(_ name: String) throws -> Function {
                guard let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: handle), name) else {
                    throw Missing(name: name)
                }
                return unsafeBitCast(symbol, to: Function.self)
            }
        }
    }

    extension OpenSSL {
        /// What serves a connection, with memory in place of a socket.
        struct ConnectionFunctions: Sendable {
            /// Chooses a protocol from a client's list (RFC 7301).
            typealias Chooser =
                @convention(c) (
                    OpaquePointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
                    UnsafeMutablePointer<UInt8>?, UnsafePointer<UInt8>?, UInt32,
                    UnsafeMutableRawPointer?
                ) -> Int32

            let serverMethod: @convention(c) () -> OpaquePointer?
            let newContext: @convention(c) (OpaquePointer?) -> OpaquePointer?
            let freeContext: @convention(c) (OpaquePointer) -> Void
            let useCertificate: @convention(c) (OpaquePointer, OpaquePointer) -> Int32
            let useKey: @convention(c) (OpaquePointer, OpaquePointer) -> Int32
            /// The callback in its last parameter may be null.
            let setVerification: @convention(c) (OpaquePointer, Int32, OpaquePointer?) -> Void
            let authorities: @convention(c) (OpaquePointer) -> OpaquePointer?
            let addAuthority: @convention(c) (OpaquePointer, OpaquePointer) -> Int32
            let setSessionContext:
                @convention(c) (OpaquePointer, UnsafePointer<UInt8>, UInt32) -> Int32
            let control: @convention(c) (OpaquePointer, Int32, Int, UnsafeMutableRawPointer?) -> Int
            let setChooser:
                @convention(c) (OpaquePointer, Chooser, UnsafeMutableRawPointer?) -> Void
            let new: @convention(c) (OpaquePointer) -> OpaquePointer?
            let free: @convention(c) (OpaquePointer) -> Void
            let acceptState: @convention(c) (OpaquePointer) -> Void
            /// The connection then owns both.
            let setBuffers: @convention(c) (OpaquePointer, OpaquePointer, OpaquePointer) -> Void
            let shakeHands: @convention(c) (OpaquePointer) -> Int32
            let read: @convention(c) (OpaquePointer, UnsafeMutableRawPointer?, Int32) -> Int32
            let write: @convention(c) (OpaquePointer, UnsafeRawPointer?, Int32) -> Int32
            let shutDown: @convention(c) (OpaquePointer) -> Int32
            let error: @convention(c) (OpaquePointer, Int32) -> Int32
            let clearErrors: @convention(c) () -> Void
            let memory: @convention(c) () -> OpaquePointer?
            let newBuffer: @convention(c) (OpaquePointer?) -> OpaquePointer?
            let freeBuffer: @convention(c) (OpaquePointer) -> Int32
            let readBuffer: @convention(c) (OpaquePointer, UnsafeMutableRawPointer?, Int32) -> Int32
            let writeBuffer: @convention(c) (OpaquePointer, UnsafeRawPointer?, Int32) -> Int32

            init(_ library: Library) throws {
                serverMethod = try library.find("TLS_server_method")
                newContext = try library.find("SSL_CTX_new")
                freeContext = try library.find("SSL_CTX_free")
                useCertificate = try library.find("SSL_CTX_use_certificate")
                useKey = try library.find("SSL_CTX_use_PrivateKey")
                setVerification = try library.find("SSL_CTX_set_verify")
                authorities = try library.find("SSL_CTX_get_cert_store")
                addAuthority = try library.find("X509_STORE_add_cert")
                setSessionContext = try library.find("SSL_CTX_set_session_id_context")
                control = try library.find("SSL_CTX_ctrl")
                setChooser = try library.find("SSL_CTX_set_alpn_select_cb")
                new = try library.find("SSL_new")
                free = try library.find("SSL_free")
                acceptState = try library.find("SSL_set_accept_state")
                setBuffers = try library.find("SSL_set_bio")
                shakeHands = try library.find("SSL_do_handshake")
                read = try library.find("SSL_read")
                write = try library.find("SSL_write")
                shutDown = try library.find("SSL_shutdown")
                error = try library.find("SSL_get_error")
                clearErrors = try library.find("ERR_clear_error")
                memory = try library.find("BIO_s_mem")
                newBuffer = try library.find("BIO_new")
                freeBuffer = try library.find("BIO_free")
                readBuffer = try library.find("BIO_read")
                writeBuffer = try library.find("BIO_write")
            }
        }
    }
#endif
