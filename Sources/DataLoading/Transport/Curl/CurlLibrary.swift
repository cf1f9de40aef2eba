// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import CCurl
    #if canImport(Glibc)
        import Glibc
    #else
        import Musl
    #endif

    /// The system's libcurl, loaded and initialised when it is first needed, and never unloaded.
    struct CurlLibrary: Sendable {
        /// The library; nil when there is none, for the reason in `failure`.
        static let shared = CurlLibrary()
        /// Why there is no library.
        static let failure = shared == nil ? String(cString: ccurl_load_error()) : ""

        /// 0xXXYYZZ for version X.Y.Z.
        let version: UInt32
        /// HTTP/2 was built in.
        let hasHTTP2: Bool
        /// Each send of a request can be refused (7.80), so nothing is sent twice unseen.
        private(set) var seesSends: Bool
        /// The certificate that a handle is given is shown to servers.
        private(set) var takesIdentities: Bool
        /// A file of authorities is read once a day and not for each connection (7.87, OpenSSL).
        let keepsAuthorities: Bool
        /// zlib is there for our own decoding.
        let hasZlib: Bool

        /// What some versions and builds cannot do.
        enum Ability {
            case seeingSends, takingIdentities
        }

        /// The library as one that can do less.
        func lacking(_ abilities: Set<Ability>) -> CurlLibrary {
            var library = self
            if abilities.contains(.seeingSends) { library.seesSends = false }
            if abilities.contains(.takingIdentities) { library.takesIdentities = false }
            return library
        }

        /// Whether HTTP/2 is offered, where that is asked for.
        func offersHTTP2(_ use: HTTP2Use) -> Bool {
            // Without a look at each send nothing could be refused.
            guard hasHTTP2, seesSends else { return false }
            return switch use {
            case .automatic: version >= 0x08_05_00
            case .always: true
            case .never: false
            }
        }

        private init?() {
            // 7.66.0 is the oldest version whose behaviour the code counts with.
            guard ccurl_load() == 0, ccurl_version() >= 0x07_42_00 else { return nil }
            version = ccurl_version()
            hasHTTP2 = ccurl_features() & (1 << 16) != 0
            hasZlib = ccurl_zlib_load() == 0
            let isOpenSSL = Self.isOpenSSL(String(cString: ccurl_tls_text()))
            takesIdentities = isOpenSSL
            keepsAuthorities = isOpenSSL && version >= 0x07_57_00
            guard let probe = ccurl_easy_init() else { return nil }
            defer { ccurl_easy_cleanup(probe) }
            seesSends = ccurl_set_send_callback(probe, CurlOption.sendFunction, nil) == 0
            // Registered after libcurl's and OpenSSL's own handlers, and so run before them.
            atexit { LoopRegistry.stopAllForExit() }
        }

        /// Whether a TLS library, as libcurl names it, is OpenSSL or of its family.
        ///
        /// A libcurl that has several puts those in parentheses that it does not use.
        static func isOpenSSL(_ text: String) -> Bool {
            let used = text.split(separator: " ").first { !$0.hasPrefix("(") }
            let name = used?.prefix { $0 != "/" }.lowercased() ?? ""
            return ["openssl", "libressl", "boringssl", "quictls", "aws-lc"].contains(name)
        }
    }
#endif
