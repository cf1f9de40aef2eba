// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    /// Makes OpenSSL allow every version, as where the system's configuration does not forbid old
    /// ones.
    ///
    /// OpenSSL reads it once, when it is loaded: before anything else in a process.
    private func allowOldVersions(in directory: TemporaryDirectory) throws {
        let text = """
            openssl_conf = all
            [all]
            ssl_conf = ssl
            [ssl]
            system_default = lax
            [lax]
            MinProtocol = TLSv1
            CipherString = DEFAULT:@SECLEVEL=0
            """
        let file = try directory.write(Data(text.utf8), to: "openssl.cnf")
        setenv("OPENSSL_CONF", file.path, 1)
    }

    extension SocketTests {
        /// RFC 9325 section 3.1.1 and RFC 8996: no TLS below 1.2.
        @Suite struct TLSFloorTests {
            @Test(arguments: [(0x0301, false), (0x0302, false), (0x0303, true), (0x0304, true)])
            func `TLS below 1.2 is never spoken, whatever the system allows`(
                version: Int, isAccepted: Bool
            ) async {
                await #expect(processExitsWith: .success) {
                    [version = version as Int, isAccepted = isAccepted as Bool] in
                    let directory = TemporaryDirectory()
                    try allowOldVersions(in: directory)
                    let scene = try TrustScene()
                    let identity = try scene.identity()
                    try identity.speak(version)
                    let peer = try scene.peer(identity)
                    let kind = try await scene.kind("a.origin.test", peer, try scene.policy())
                    #expect((kind == "success") == isAccepted, "\(kind)")
                    #expect(peer.requestCount == (isAccepted ? 1 : 0))
                    peer.stop()
                    withExtendedLifetime(directory) {}
                }
            }
        }
    }
#endif
