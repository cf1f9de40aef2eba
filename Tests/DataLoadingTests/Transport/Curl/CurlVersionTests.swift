// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingTransport
    @testable import DataLoadingCurl
    @testable import DataLoading
    import Foundation
    import Testing

    /// The libcurl that continuous integration has put in place of the system's.
    private let named = ProcessInfo.processInfo.environment["DATALOADING_LIBCURL"]

    extension SocketTests {
        @Suite(.enabled(if: named != nil)) struct CurlVersionTests {
            @Test func `the library in the process is the one that the environment names`() throws {
                let version = try #require(CurlLibrary.shared?.version)
                let parts = [version >> 16, version >> 8 & 255, version & 255]
                #expect(parts.map(String.init).joined(separator: ".") == named)
            }

            @Test func `the servers of the tests use the TLS library of the client`() throws {
                _ = try #require(OpenSSL.shared)
                let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/maps"))
                let maps = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
                let names = maps.split(separator: "\n")
                    .compactMap { $0.split(separator: "/").last.map(String.init) }
                    .filter { $0.hasPrefix("libssl") }
                #expect(Set(names).count == 1)
            }
        }
    }
#endif
