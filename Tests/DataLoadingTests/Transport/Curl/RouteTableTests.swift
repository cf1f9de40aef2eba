// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoadingSupport
    @testable import DataLoadingTransport
    @testable import DataLoadingCurl
    @testable import DataLoading
    import DataLoadingTesting
    import Testing

    @Suite struct RouteTableTests {
        typealias Table = RouteTable<Int>

        let a = Self.key("a.test")
        let b = Self.key("b.test")

        static func key(
            _ host: String, port: UInt16 = 443, address: String? = nil, pins: [String]? = nil
        ) -> RouteKey {
            RouteKey(
                host: host, port: port, address: address,
                trust: pins.map { HostTrust(authorities: nil, pins: $0, identity: nil, fault: nil) }
            )
        }

        static func ends(_ port: Int) -> ConnectionName {
            ConnectionName(localPort: port, peer: [10, 0, 0, 2], peerPort: 443)
        }

        static func table(limit: Int = 4_096) -> Table {
            Table(maximumAge: 300, memory: 600, leaderTime: 1_000, limit: limit)
        }

        /// Returns every release in order, including retirements.
        func released(_ table: inout Table, now: Int64 = 0) -> [Table.Release] {
            var releases: [Table.Release] = []
            while let release = table.next(now: now) {
                releases.append(release)
                if release == .renew { table.retireConnections() }
            }
            return releases
        }

        @Test func `the first attempt of a route leads and the next ones wait`() {
            var table = Self.table()
            #expect(table.enter(1, a, now: 0) == .http2)
            #expect(table.enter(2, a, now: 0) == .wait)
            #expect(table.enter(3, b, now: 0) == .http2)
            #expect(released(&table).isEmpty)
        }

        @Test(arguments: [
            RouteTableTests.key("a.test", port: 8443),
            RouteTableTests.key("a.test", address: "10.0.0.9"),
            RouteTableTests.key("a.test", pins: ["x"]),
        ])
        func `a route is identified by its port, address and trust too`(other: RouteKey) {
            var table = Self.table()
            #expect(table.enter(1, a, now: 0) == .http2)
            #expect(table.enter(2, other, now: 0) == .http2)
        }

        @Test func `the attempts of a route share its key`() {
            var table = Self.table()
            #expect(table.key(like: a) === a)
            _ = table.enter(1, a, now: 0)
            #expect(table.key(like: Self.key("a.test")) === a)
            #expect(table.key(like: b) === b)
        }

        @Test func `all waiting attempts join a connection of HTTP/2`() {
            var table = Self.table()
            for member in 1...3 { _ = table.enter(member, a, now: 0) }
            table.foundHTTP2(1, a, on: Self.ends(1), opened: 0)
            #expect(released(&table) == [.start(2, a, .http2), .start(3, a, .http2)])
            #expect(table.enter(4, a, now: 0) == .http2)
        }

        @Test func `all waiting attempts use HTTP/1.1, which is remembered for its time`() {
            var table = Self.table()
            for member in 1...3 { _ = table.enter(member, a, now: 0) }
            table.foundHTTP1(1, a, now: 100)
            #expect(
                released(&table, now: 100) == [.start(2, a, .http1), .start(3, a, .http1)])
            #expect(table.enter(4, a, now: 699) == .http1)
            #expect(table.enter(5, a, now: 700) == .probe)
        }

        @Test func `the next attempt leads when the first ends without a handshake`() {
            var table = Self.table()
            for member in 1...3 { _ = table.enter(member, a, now: 0) }
            table.left(1, a, from: nil)
            #expect(released(&table) == [.start(2, a, .http2)])
            table.left(2, a, from: nil)
            #expect(released(&table) == [.start(3, a, .http2)])
            table.left(3, a, from: nil)
            #expect(table.count == 0)
        }

        @Test func `an attempt that ends while it waits is not run`() {
            var table = Self.table()
            for member in 1...3 { _ = table.enter(member, a, now: 0) }
            table.left(2, a, from: nil)
            table.left(1, a, from: nil)
            #expect(released(&table) == [.start(3, a, .http2)])
        }

        @Test func `an attempt that finds its connection gone delays the next ones`() {
            var table = Self.table()
            _ = table.enter(1, a, now: 0)
            table.foundHTTP2(1, a, on: Self.ends(1), opened: 0)
            #expect(table.enter(2, a, now: 0) == .http2)
            table.isConnecting(2, a, now: 0)
            #expect(table.enter(3, a, now: 0) == .wait)
            #expect(released(&table).isEmpty)
            // A stream of the first connection is free: one attempt may use it.
            table.left(1, a, from: Self.ends(1))
            #expect(table.enter(4, a, now: 0) == .wait)
            #expect(released(&table) == [.start(3, a, .http2)])
            table.foundHTTP2(2, a, on: Self.ends(2), opened: 0)
            #expect(released(&table) == [.start(4, a, .http2)])
        }

        @Test func `a connection that is closed, or may be, is not joined`() {
            var table = Self.table()
            for key in [a, b] {
                _ = table.enter(1, key, now: 0)
                table.foundHTTP2(1, key, on: Self.ends(1), opened: 0)
                table.left(1, key, from: Self.ends(1))
                if key == a {
                    table.closed(Self.ends(1), key)
                } else {
                    table.mayHaveEnded(Self.ends(1), key)
                }
                #expect(table.enter(2, key, now: 0) == .http2)
                #expect(table.enter(3, key, now: 0) == .wait)
                // The connection had not ended.
                table.foundHTTP2(2, key, on: Self.ends(1), opened: 0)
                #expect(table.enter(4, key, now: 0) == .wait)
                #expect(released(&table) == [.start(3, key, .http2), .start(4, key, .http2)])
            }
        }

        @Test func `an old connection in use makes the route retire all, an idle one not`() {
            var table = Self.table()
            _ = table.enter(1, a, now: 0)
            table.foundHTTP2(1, a, on: Self.ends(1), opened: 0)
            #expect(table.enter(2, a, now: 299) == .http2)
            #expect(table.enter(3, a, now: 300) == .renew)
            table.retireConnections()
            #expect(table.enter(3, a, now: 300) == .http2)
            #expect(table.enter(4, a, now: 300) == .wait)
            // An end on the old connection says nothing.
            table.left(1, a, from: Self.ends(1))
            #expect(released(&table, now: 300).isEmpty)
            table.foundHTTP2(3, a, on: Self.ends(2), opened: 300)
            #expect(released(&table, now: 300) == [.start(4, a, .http2)])
            table.left(3, a, from: Self.ends(2))
            table.left(4, a, from: Self.ends(2))
            #expect(table.enter(5, a, now: 900) == .http2)
            #expect(table.enter(6, a, now: 900) == .wait)
        }

        @Test func `the next attempt of each route leads after connections are retired`() {
            var table = Self.table()
            for key in [a, b] {
                for member in 1...3 { _ = table.enter(member, key, now: 0) }
            }
            table.retireConnections()
            let releases = released(&table)
            #expect(releases.count == 2)
            #expect(releases.contains(.start(2, a, .http2)))
            #expect(releases.contains(.start(2, b, .http2)))
            // No other attempt may use the first ones' connections, but these show the protocol.
            table.foundHTTP2(1, a, on: nil, opened: 0)
            #expect(released(&table).isEmpty)
            table.foundHTTP1(1, b, now: 0)
            #expect(released(&table) == [.start(3, b, .http1)])
        }

        @Test func `a reset forgets the servers' protocols, and no attempt`() {
            var table = Self.table()
            _ = table.enter(1, a, now: 0)
            table.foundHTTP1(1, a, now: 0)
            _ = table.enter(1, b, now: 0)
            _ = table.enter(2, b, now: 0)
            table.forget()
            #expect(table.enter(3, a, now: 0) == .http2)
            #expect(released(&table) == [.start(2, b, .http2)])
        }

        @Test func `the route table is bounded, and keeps every route in use`() {
            var table = Self.table(limit: 10)
            _ = table.enter(1, a, now: 0)
            _ = table.enter(2, a, now: 0)
            for number in 0..<1_000 {
                let key = Self.key("\(number).test")
                #expect(table.enter(3, key, now: Int64(number)) == .http2)
                table.foundHTTP1(3, key, now: Int64(number))
                table.left(3, key, from: nil)
                #expect(table.count <= 11)
            }
            #expect(table.enter(3, Self.key("999.test"), now: 1_000) == .http1)
            table.left(1, a, from: nil)
            #expect(released(&table, now: 1_000) == [.start(2, a, .http2)])
        }

        /// In any order of events, each waiting attempt is run once no connection is being opened.
        @Test func `no attempt waits for ever`() {
            property { generator in
                var table = Table(maximumAge: .max, memory: 600, leaderTime: 1_000)
                var connecting: Set<Int> = []
                var sending: [Int: ConnectionName?] = [:]
                var waiting: Set<Int> = []
                var number = 0
                var now: Int64 = 0
                func pump() {
                    while let release = table.next(now: now) {
                        guard case .start(let member, _, let way) = release else { continue }
                        waiting.remove(member)
                        if way == .http2 {
                            connecting.insert(member)
                        } else {
                            sending[member] = nil
                        }
                    }
                }
                for _ in 0..<40 {
                    number += 1
                    // From time to time a leader has delayed the others for long enough.
                    if Int.random(in: 0..<4, using: &generator) == 0 { now += 2_000 }
                    switch Int.random(in: 0..<8, using: &generator) {
                    case 0, 1, 2:
                        switch table.enter(number, a, now: now) {
                        case .wait: waiting.insert(number)
                        case .http2: connecting.insert(number)
                        case .http1: sending.updateValue(nil, forKey: number)
                        case .renew, .probe: return "renewed"
                        }
                    case 3:
                        guard let member = connecting.randomElement(using: &generator) else {
                            break
                        }
                        connecting.remove(member)
                        let ends = Self.ends(Int.random(in: 0..<3, using: &generator))
                        sending.updateValue(ends, forKey: member)
                        table.foundHTTP2(member, a, on: ends, opened: now)
                    case 4:
                        guard let member = connecting.randomElement(using: &generator) else {
                            break
                        }
                        table.isConnecting(member, a, now: now)
                    case 5:
                        guard
                            let member = connecting.union(waiting).randomElement(using: &generator)
                        else { break }
                        connecting.remove(member)
                        waiting.remove(member)
                        table.left(member, a, from: nil)
                    case 6:
                        guard let member = sending.keys.randomElement(using: &generator) else {
                            break
                        }
                        table.left(member, a, from: sending[member] ?? nil)
                        sending[member] = nil
                    default:
                        switch Int.random(in: 0..<20, using: &generator) {
                        case 0: table.retireConnections()
                        case 1: table.forget()
                        default:
                            table.closed(Self.ends(Int.random(in: 0..<3, using: &generator)), a)
                        }
                    }
                    pump()
                    guard table.deadline > now else { return "asks to be asked again at once" }
                }
                while !connecting.isEmpty {
                    for member in connecting {
                        connecting.remove(member)
                        table.left(member, a, from: nil)
                    }
                    pump()
                }
                return waiting.isEmpty ? nil : "\(waiting.count) wait"
            }
        }
    }
#endif
