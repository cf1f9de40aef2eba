// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if URLSession && canImport(FoundationNetworking) && !compiler(>=6.4)
    @testable import DataLoading
    @testable import DataLoadingURLSession
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// Faults of a server that end the process on Linux, each in a process of its own.
        ///
        /// When one of these tests fails, the Foundation in use has fixed the fault, and the
        /// transport's documentation need not warn of it any more.
        @Suite struct URLSessionCrashTests {
            // Upstream commit e1bc19d78.
            @Test func `an end inside the head ends the process`() async {
                await #expect(processExitsWith: .failure) {
                    let server = try LoopbackServer { _ in .raw("HTTP/1.1 200 OK\r\nContent-Le") }
                    _ = await URLSessionTransport().get(server.url())
                }
            }

            @Test func `trailers end the process`() async {
                await #expect(processExitsWith: .failure) {
                    let server = try LoopbackServer { _ in
                        .chunked(["a"], trailers: ["X-Sum": "1"])
                    }
                    _ = await URLSessionTransport().get(server.url())
                }
            }
        }
    }
#endif
