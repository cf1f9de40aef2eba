// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingRedirectReceiver
    @testable import DataLoadingAuth
    @testable import DataLoadingTransport
    @testable import DataLoadingSupport
    @testable import DataLoadingCurl
    import DataLoadingTesting
    @testable import DataLoading
    import Testing

    /// An attempt that finds out a protocol does not delay the others for long.
    extension RouteTableTests {
        @Test func `other attempts use HTTP/1.1 while a probe is under way`() {
            var table = Self.table()
            _ = table.enter(1, a, now: 0)
            table.foundHTTP1(1, a, now: 100)
            #expect(table.enter(2, a, now: 700) == .probe)
            #expect(table.enter(3, a, now: 700) == .http1)
            // It has found out nothing, and the next probe is due at its time.
            table.left(2, a, from: nil)
            #expect(table.enter(4, a, now: 759) == .http1)
            #expect(table.enter(5, a, now: 760) == .probe)
            table.foundHTTP2(5, a, on: Self.ends(1), opened: 760)
            #expect(table.enter(6, a, now: 760) == .http2)
        }

        @Test func `a server that required HTTP/1.1 gets it for the configured time`() {
            var table = Self.table()
            for member in 1...3 { _ = table.enter(member, a, now: 0) }
            table.requiresHTTP1(a, now: 0)
            #expect(released(&table) == [.start(2, a, .http1), .start(3, a, .http1)])
            table.foundHTTP2(1, a, on: Self.ends(1), opened: 0)
            #expect(table.enter(4, a, now: 599) == .http1)
            // It is known that the server speaks HTTP/2.
            #expect(table.enter(5, a, now: 600) == .renew)
            table.retireConnections()
            #expect(table.enter(5, a, now: 600) == .http2)
            #expect(table.enter(6, a, now: 600) == .wait)
        }

        @Test func `a leading attempt delays the others for a limited time`() {
            var table = Self.table()
            for member in 1...9 { _ = table.enter(member, a, now: 0) }
            #expect(released(&table, now: 999).isEmpty)
            // Each further leader delays them for twice as long.
            for (member, instant) in [(2, 1_000), (3, 3_000), (4, 7_000), (5, 15_000)] {
                #expect(table.deadline == Int64(instant))
                #expect(released(&table, now: Int64(instant) - 1).isEmpty)
                #expect(released(&table, now: Int64(instant)) == [.start(member, a, .http2)])
            }
            #expect(table.deadline == .max)
            #expect(released(&table, now: 19_999).isEmpty)
            // One leader that connects is enough.
            table.foundHTTP2(4, a, on: Self.ends(1), opened: 20_000)
            #expect(released(&table, now: 20_000) == (6...9).map { .start($0, a, .http2) })
            #expect(table.enter(10, a, now: 20_000) == .http2)
        }

        @Test func `a leader that fails makes room for another, and no ended one waits`() {
            var table = Self.table()
            for member in 1...8 { _ = table.enter(member, a, now: 0) }
            for instant in [1_000, 3_000, 7_000, 15_000] as [Int64] {
                #expect(released(&table, now: instant).count == 1)
            }
            table.left(1, a, from: nil)
            #expect(released(&table, now: 15_000).isEmpty)
            #expect(table.deadline == 23_000)
            #expect(released(&table, now: 23_000) == [.start(6, a, .http2)])
            for member in 2...8 { table.left(member, a, from: nil) }
            #expect(released(&table, now: 23_000).isEmpty)
            #expect(table.count == 0)
        }
    }
#endif
