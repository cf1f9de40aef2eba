// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    @testable import DataLoadingCurl
    import CCurl
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// Descriptor numbers that libcurl frees without its callback, and that the next socket
        /// gets.
        @Suite struct SocketReuseTests {
            // libcurl 7.88 closes a socket that did not connect without its callback
            // (`cf_socket_close`).
            @Test(arguments: [false, true])
            func `a socket with the number of one that did not connect is watched`(
                isRemoved: Bool
            ) throws {
                let loop = try CurlLoop.make()
                defer { loop.close() }
                let multi = try #require(CurlMulti(for: loop))
                defer { multi.close() }
                var peer = ccurl_sockaddr(
                    family: AF_UNIX, socktype: 0, protocol: 0, addrlen: 0)
                var pair: [Int32] = [-1, -1]
                try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
                defer { for socket in pair { close(socket) } }
                loop.openedSocket(pair[0], to: &peer)
                loop.watch(pair[0], CurlSignal.writable, for: multi)
                #expect(writableSockets(of: loop) == [pair[0]])
                // Closes the first, and gives its number to another.
                try #require(dup2(pair[1], pair[0]) == pair[0])
                if isRemoved { loop.watch(pair[0], CurlSignal.removed, for: multi) }
                loop.openedSocket(pair[0], to: &peer)
                // libcurl continues to watch a number that it watched, and does not ask for it
                // again.
                if isRemoved { loop.watch(pair[0], CurlSignal.writable, for: multi) }
                #expect(writableSockets(of: loop) == [pair[0]])
            }

            private func writableSockets(of loop: CurlLoop) -> [Int32] {
                let count = epoll_wait(loop.epoll, loop.events.baseAddress, 16, 0)
                return loop.events.prefix(Int(max(0, count)))
                    .filter { $0.data.u64 != .max && $0.events & EPOLLOUT.rawValue != 0 }
                    .map { Int32(truncatingIfNeeded: $0.data.u64 & 0xFFFF_FFFF) }
            }

            // libcurl checks a connection that it opens every 200 ms, also without an event.
            @Test func `no connection waits for libcurl's timer when others are cancelled`()
                async throws
            {
                let server = try LoopbackServer { _ in .ok(headers: ["Connection": "close"]) }
                let transport = CurlTransport()
                // A busy machine may be late sometimes; a lost event shows in some of 200 rounds.
                var slowest = Duration.zero
                var machine = Duration.zero
                for _ in 0..<3 {
                    slowest = .zero
                    machine = .zero
                    for _ in 0..<200 {
                        let hole = try LoopbackBlackHole()
                        let sinks = (0..<3).map { _ in AttemptRecorder() }
                        let tasks = sinks.map {
                            transport.start(TransportRequest(url: hole.url()), sink: $0)
                        }
                        await transport.settle()
                        for task in tasks { task.cancel() }
                        async let first = transport.get(server.url())
                        async let second = transport.get(server.url())
                        for record in [await first, await second] {
                            #expect(record.error == nil)
                            slowest = max(slowest, record.report.connectTime ?? .zero)
                        }
                        machine = max(machine, try await timeOfPlainSocket())
                    }
                    if slowest < .milliseconds(150) + machine { break }
                }
                #expect(
                    slowest < .milliseconds(150) + machine, "\(slowest), a plain socket \(machine)")
            }
        }
    }
#endif
