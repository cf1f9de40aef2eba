// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    @testable import DataLoadingCurl
    @testable import DataLoadingTransport
    import DataLoadingTesting
    import Testing

    extension SocketTests {
        /// Which handles are kept, and which one an attempt takes.
        @Suite struct TransferPoolTests {
            private static let minute: Int64 = 60_000_000_000

            private func request(
                _ method: HTTPMethod, _ url: String, to address: String? = nil,
                headers: HTTPHeaders = ["A": "1"]
            ) -> TransportRequest {
                var request = TransportRequest(method: method, url: testURL(url), headers: headers)
                request.address = address
                return request
            }

            /// A handle as it is after an attempt of a request.
            private func handle(_ loop: CurlLoop, _ request: TransportRequest) throws
                -> CurlTransfer
            {
                let transfer = try #require(CurlTransfer.make(for: loop))
                let task = CurlTask(
                    request: request, sink: AttemptRecorder(), mailbox: loop.mailbox)
                let target = try RequestTarget(text: request.text)
                transfer.shape = CurlShape(
                    task, url: target.urlText, origin: target.origin, isFresh: false,
                    isHTTP2: false, upload: .none)
                return transfer
            }

            @Test func `an attempt takes the handle that is set up for its request`() throws {
                let loop = try CurlLoop.make()
                let requests = [
                    request(.get, "http://a.test/"), request(.head, "http://a.test/"),
                    request(.get, "https://a.test/"),
                    request(.get, "http://a.test/", to: "127.0.0.1"),
                    request(.get, "http://a.test/other"),
                    request(.get, "http://a.test/", headers: [:]),
                ]
                var pool = TransferPool()
                for _ in 0..<3 {
                    let handles = try requests.map { try handle(loop, $0) }
                    for handle in handles {
                        #expect(pool.put(handle, running: 0, now: 0).isEmpty)
                    }
                    // The oldest first: each is found behind the others.
                    for (request, expected) in zip(requests, handles) {
                        #expect(pool.take(for: request) === expected)
                    }
                    #expect(pool.take(for: requests[0]) == nil)
                    for handle in handles { handle.free() }
                }
                loop.close()
            }

            @Test func `with none for its request an attempt takes one with other fields, or any`()
                throws
            {
                let loop = try CurlLoop.make()
                let partial = try handle(loop, request(.get, "http://a.test/"))
                let other = try handle(loop, request(.head, "http://a.test/"))
                var pool = TransferPool()
                _ = pool.put(partial, running: 0, now: 0)
                _ = pool.put(other, running: 0, now: 0)
                let wanted = request(.get, "http://b.test/path", headers: ["B": "2"])
                #expect(pool.take(for: wanted) === partial)
                #expect(pool.take(for: wanted) === other)
                for handle in [partial, other] { handle.free() }
                loop.close()
            }

            @Test func `as many handles are kept as attempts ran at once, for two minutes at most`()
                throws
            {
                let loop = try CurlLoop.make()
                var pool = TransferPool()
                func put(running: Int, now: Int64) throws -> Int {
                    let transfer = try #require(CurlTransfer.make(for: loop))
                    let surplus = pool.put(transfer, running: running, now: now)
                    for handle in surplus { handle.free() }
                    return surplus.count
                }
                for number in 0..<100 {
                    #expect(try put(running: 99 - number, now: 0) == 0)
                }
                #expect(pool.count == 100)
                // One at a time: the peak still counts in the minute after its own.
                for (minute, kept) in [(1, 100), (2, 64)] {
                    let handle = pool.take(for: request(.get, "http://a.test/"))
                    let taken = try #require(handle)
                    let surplus = pool.put(taken, running: 0, now: Int64(minute) * Self.minute)
                    for old in surplus { old.free() }
                    #expect(pool.count == kept)
                }
                for handle in pool.removeAll() { handle.free() }
                loop.close()
            }

            @Test func `a loop without attempts keeps no more handles than ever`() throws {
                let loop = try CurlLoop.make()
                var pool = TransferPool()
                for number in 0..<100 {
                    let transfer = try #require(CurlTransfer.make(for: loop))
                    #expect(pool.put(transfer, running: 99 - number, now: 0).isEmpty)
                }
                for handle in pool.settle() { handle.free() }
                #expect(pool.count == 64)
                for handle in pool.removeAll() { handle.free() }
                #expect(pool.count == 0)
                loop.close()
            }
        }
    }
#endif
