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
            first.entry.end(isCarrier: true, sends: true)
            let second = names.use(key, addresses: "10.0.0.1,[::1]")
            #expect(second.lines == nil)
            second.entry.end(isCarrier: false, sends: true)
            #expect(names.use(key, addresses: "10.0.0.2").lines == ["a.test:80:10.0.0.2"])
        }

        @Test func `addresses are given again after an attempt that did not send`() {
            var names = NameEntries()
            let first = names.use(key, addresses: "10.0.0.1")
            first.entry.end(isCarrier: true, sends: false)
            #expect(names.use(key, addresses: "10.0.0.1").lines != nil)
        }

        @Test func `a name that looks like a removal is given to libcurl each time`() {
            var names = NameEntries()
            for _ in 0..<2 {
                let key = NameEntries.Key(name: "-.-", port: 80)
                let (entry, lines) = names.use(key, addresses: "10.0.0.1")
                #expect(lines == ["+-.-:80:10.0.0.1"])
                entry.end(isCarrier: true, sends: true)
            }
            #expect(names.count == 0)
        }

        @Test func `of attempts with different addresses none says what libcurl has`() {
            var names = NameEntries()
            let old = names.use(key, addresses: "10.0.0.1").entry
            let new = names.use(key, addresses: "10.0.0.2").entry
            new.end(isCarrier: true, sends: true)
            old.end(isCarrier: true, sends: true)
            let third = names.use(key, addresses: "10.0.0.2")
            #expect(third.lines != nil)
            third.entry.end(isCarrier: true, sends: true)
            #expect(names.use(key, addresses: "10.0.0.2").lines == nil)
        }

        @Test func `each new name beyond the limit removes the oldest entry that none needs`() {
            var names = NameEntries()
            let used = names.use(key, addresses: "10.0.0.1").entry
            for number in 1..<NameEntries.limit {
                let key = NameEntries.Key(name: "host\(number)", port: 80)
                let (entry, lines) = names.use(key, addresses: "10.0.0.1")
                #expect(lines == ["host\(number):80:10.0.0.1"])
                entry.end(isCarrier: true, sends: true)
            }
            let new = NameEntries.Key(name: "new", port: 443)
            let (entry, lines) = names.use(new, addresses: "10.0.0.3")
            #expect(lines == ["-host1:80", "new:443:10.0.0.3"])
            entry.end(isCarrier: true, sends: false)
            used.end(isCarrier: true, sends: true)
            let last = NameEntries.Key(name: "last", port: 80)
            #expect(names.use(last, addresses: "10.0.0.4").lines?.first == "-host2:80")
            #expect(names.count == NameEntries.limit)
        }

        @Test func `more names than the limit are kept while attempts need them`() {
            var names = NameEntries()
            for number in 0..<(NameEntries.limit + 10) {
                let key = NameEntries.Key(name: "host\(number)", port: 80)
                #expect(names.use(key, addresses: "10.0.0.1").lines?.count == 1)
            }
            #expect(names.count == NameEntries.limit + 10)
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
