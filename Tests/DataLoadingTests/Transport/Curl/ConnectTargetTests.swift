// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingCurl
    import DataLoadingTransport
    import Testing

    @Suite struct ConnectTargetTests {
        @Test(
            arguments: [
                ("127.1", "127.0.0.1", nil), ("127.1:443", "127.0.0.1", 443),
                ("[0:0:0:0:0:0:0:1]", "[::1]", nil), ("[::1]:8443", "[::1]", 8_443),
                ("Backend.test", "backend.test", nil), ("backend.test:80", "backend.test", 80),
            ] as [(String, String, UInt16?)])
        func `an address has the port that it names, however its host is written`(
            address: String, host: String, port: UInt16?
        ) throws {
            let target = try ConnectTarget(address: address)
            #expect(target.host == host)
            #expect(target.port == port)
        }

        @Test func `an address whose port is missing is malformed`() {
            #expect(throws: RequestFault.self) { try ConnectTarget(address: "backend.test:") }
        }
    }
#endif
