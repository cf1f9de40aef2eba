// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoadingSupport
    @testable import DataLoadingCurl
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    // https://curl.se/libcurl/c/CURLOPT_RESOLVE.html: a line with "-" removes an entry.
    @Suite struct NameEntriesTests {
        private let key = NameEntries.Key(name: "a.test", port: 80)

        @Test func `addresses are given to libcurl again only when they have changed`() {
            var names = NameEntries()
            let first = names.use(key, addresses: "10.0.0.1,[::1]")
            #expect(first.lines == ["a.test:80:10.0.0.1,[::1]"])
            first.end(sends: true)
            let second = names.use(key, addresses: "10.0.0.1,[::1]")
            #expect(second.lines == nil)
            second.end(sends: true)
            #expect(names.use(key, addresses: "10.0.0.2").lines == ["a.test:80:10.0.0.2"])
        }

        @Test func `addresses are given again after an attempt that did not send`() {
            var names = NameEntries()
            names.use(key, addresses: "10.0.0.1").end(sends: false)
            #expect(names.use(key, addresses: "10.0.0.1").lines != nil)
        }

        @Test func `a name that looks like a removal is given to libcurl each time`() {
            var names = NameEntries()
            for _ in 0..<2 {
                let key = NameEntries.Key(name: "-.-", port: 80)
                let use = names.use(key, addresses: "10.0.0.1")
                #expect(use.lines == ["+-.-:80:10.0.0.1"])
                use.end(sends: true)
            }
            #expect(names.count == 0)
        }

        @Test func `of attempts with different addresses none says what libcurl has`() {
            var names = NameEntries()
            let old = names.use(key, addresses: "10.0.0.1")
            let new = names.use(key, addresses: "10.0.0.2")
            new.end(sends: true)
            old.end(sends: true)
            let third = names.use(key, addresses: "10.0.0.2")
            #expect(third.lines != nil)
            third.end(sends: true)
            #expect(names.use(key, addresses: "10.0.0.2").lines == nil)
        }

        @Test func `each new name beyond the limit removes the oldest entry that none needs`() {
            var names = NameEntries()
            let used = names.use(key, addresses: "10.0.0.1")
            fill(&names, from: 1, to: NameEntries.limit)
            let new = use("new", &names)
            #expect(new.lines == ["-host1:80", "new:80:10.0.0.1"])
            new.end(sends: true)
            used.end(sends: true)
            #expect(use("last", &names).lines?.first == "-host2:80")
            #expect(names.count == NameEntries.limit)
        }

        @Test func `what a cancelled attempt was to remove is removed by the next one`() {
            var names = NameEntries()
            fill(&names, from: 0, to: NameEntries.limit)
            let cancelled = use("new", &names)
            #expect(cancelled.lines == ["-host0:80", "new:80:10.0.0.1"])
            cancelled.end(sends: false)
            let next = use("next", &names)
            #expect(next.lines == ["-host0:80", "-host1:80", "next:80:10.0.0.1"])
            next.end(sends: true)
            #expect(use("last", &names).lines == ["-host2:80", "last:80:10.0.0.1"])
        }

        @Test func `a name that has come back is not removed`() {
            var names = NameEntries()
            fill(&names, from: 0, to: NameEntries.limit)
            use("new", &names).end(sends: false)
            #expect(use("host0", &names).lines == ["-host1:80", "host0:80:10.0.0.1"])
        }

        @Test func `names that are never sent for carry a bounded number of removals`() {
            var names = NameEntries()
            fill(&names, from: 0, to: NameEntries.limit)
            for number in 0..<1_000 {
                let use = use("new\(number)", &names)
                #expect((use.lines?.count ?? 0) <= NameRemovals.limit + 1)
                use.end(sends: false)
            }
            #expect(names.count == NameEntries.limit)
        }

        @Test func `a table that was larger than the limit shrinks again`() {
            var names = NameEntries()
            let uses = (0..<(NameEntries.limit + 10)).map { use("host\($0)", &names) }
            #expect(uses.allSatisfy { $0.lines?.count == 1 })
            #expect(names.count == NameEntries.limit + 10)
            for use in uses { use.end(sends: true) }
            for number in 0..<20 { use("new\(number)", &names).end(sends: true) }
            #expect(names.count == NameEntries.limit)
        }

        private func use(_ name: String, _ names: inout NameEntries) -> NameUse {
            names.use(NameEntries.Key(name: name, port: 80), addresses: "10.0.0.1")
        }

        /// Adds names that no attempt needs any more.
        private func fill(_ names: inout NameEntries, from first: Int, to end: Int) {
            for number in first..<end {
                let use = use("host\(number)", &names)
                #expect(use.lines == ["host\(number):80:10.0.0.1"])
                use.end(sends: true)
            }
        }
    }

    extension SocketTests {
        @Suite struct NameEntrySocketTests {
            @Test func `new connections go to the addresses that the last look-up found`()
                async throws
            {
                let server = try LoopbackServer { _ in .ok("here") }
                let address = Locked("127.0.0.1")
                var lifetimes = NameLifetimes()
                lifetimes.fresh = 0
                lifetimes.staleAnswerDelay = 3_600_000_000_000
                let transport = CurlTransport(names: lifetimes) { _ in
                    .addresses([address.withLock { $0 }])
                }
                var attempt = TransportRequest(url: testURL("http://named.test:\(server.port)/"))
                attempt.needsFreshConnection = true
                for (current, error) in [
                    ("127.0.0.1", nil), ("127.0.0.1", nil), ("127.0.0.2", .connectRefused),
                    ("127.0.0.2", .connectRefused), ("127.0.0.1", nil),
                ] as [(String, DataLoaderError?)] {
                    address.withLock { $0 = current }
                    #expect(await transport.run(attempt).error == error)
                }
                #expect(server.connectionCount == 3)
                await transport.shutDown()
            }

            @Test func `new connections need no more than the first attempt's addresses`()
                async throws
            {
                let server = try LoopbackServer { _ in .ok("here") }
                let lookups = Locked(0)
                let transport = CurlTransport { _ in
                    lookups.withLock { $0 += 1 }
                    return .addresses(["127.0.0.1"])
                }
                var attempt = TransportRequest(url: testURL("http://named.test:\(server.port)/"))
                attempt.needsFreshConnection = true
                await withTaskGroup(of: String.self) { [attempt] group in
                    for _ in 0..<50 { group.addTask { await transport.run(attempt).text } }
                    for await text in group { #expect(text == "here") }
                }
                // After a reset libcurl has no address.
                await transport.reset()
                for _ in 0..<2 { #expect(await transport.run(attempt).text == "here") }
                #expect(lookups.withLock { $0 } == 2)
                await transport.shutDown()
            }
        }
    }
#endif
