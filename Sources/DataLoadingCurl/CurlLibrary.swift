// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import CCurl
#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// The system's libcurl, loaded and initialised on first use, and never unloaded.
struct CurlLibrary: Sendable {
    /// The library; nil when it cannot be loaded, for the reason in `failure`.
    static let shared = CurlLibrary()
    /// Why the library cannot be loaded.
    static let failure = shared == nil ? String(cString: ccurl_load_error()) : ""

    /// The version X.Y.Z as 0xXXYYZZ.
    let version: UInt32
    /// HTTP/2 was built in.
    let hasHTTP2: Bool
    /// TLS to a proxy was built in.
    let hasHTTPSProxies: Bool
    /// The loop can refuse each send of a request (7.80), so that libcurl resends nothing
    /// unnoticed.
    private(set) var canRefuseSends: Bool
    /// libcurl shows servers the client certificate that a handle is given.
    private(set) var supportsIdentities: Bool
    /// libcurl reads a file of authorities once a day and not for each connection (7.87,
    /// OpenSSL).
    let cachesAuthorities: Bool
    /// zlib is installed, which the transport's own decoding needs.
    let hasZlib: Bool

    /// What some versions and builds cannot do.
    enum Ability {
        case refusingSends, clientIdentities
    }

    /// Returns the library without some abilities, for tests.
    func lacking(_ abilities: Set<Ability>) -> CurlLibrary {
        var library = self
        if abilities.contains(.refusingSends) { library.canRefuseSends = false }
        if abilities.contains(.clientIdentities) { library.supportsIdentities = false }
        return library
    }

    /// Returns whether HTTP/2 is offered to a request with this setting.
    func offersHTTP2(_ use: HTTP2Use) -> Bool {
        // Without a callback before each send no send could be refused.
        guard hasHTTP2, canRefuseSends else { return false }
        return switch use {
        case .automatic: separatesProtocols
        case .always: true
        case .never: false
        }
    }

    private init?() {
        // 7.66.0 is the oldest version whose behaviour the code relies on.
        guard ccurl_load() == 0, ccurl_version() >= 0x07_42_00 else { return nil }
        version = ccurl_version()
        hasHTTP2 = ccurl_features() & (1 << 16) != 0
        hasHTTPSProxies = ccurl_features() & (1 << 21) != 0
        hasZlib = ccurl_zlib_load() == 0
        let isOpenSSL = Self.isOpenSSL(String(cString: ccurl_tls_text()))
        supportsIdentities = isOpenSSL
        cachesAuthorities = isOpenSSL && version >= 0x07_57_00
        guard let probe = ccurl_easy_init() else { return nil }
        defer { ccurl_easy_cleanup(probe) }
        canRefuseSends = ccurl_set_send_callback(probe, CurlOption.sendFunction, nil) == 0
        // Registered after the exit handlers of libcurl and OpenSSL, and so run before them.
        atexit { LoopRegistry.stopAllForExit() }
    }

    /// Whether libcurl's name of its TLS library is OpenSSL or of its family.
    ///
    /// A libcurl with several TLS libraries puts those that it does not use in parentheses.
    static func isOpenSSL(_ text: String) -> Bool {
        let used = text.split(separator: " ").first { !$0.hasPrefix("(") }
        let name = used?.prefix { $0 != "/" }.lowercased() ?? ""
        return ["openssl", "libressl", "boringssl", "quictls", "aws-lc"].contains(name)
    }
}
