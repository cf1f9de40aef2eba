// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingCurl
    @testable import DataLoading
    import Foundation
    import Testing

    @Suite struct OriginSeatsTests {
        static func origin(_ number: Int) -> Origin {
            Origin(isSecure: false, host: "host\(number).test", port: 80)
        }

        @Test func `new origins are given to the loops in turn`() {
            var seats = OriginSeats(loops: 3)
            let loops = (0..<9).map { seats.seat(for: Self.origin($0), now: 0).loop }
            #expect(Set(loops[0..<3]) == [0, 1, 2])
            #expect(loops[0..<3] == loops[3..<6] && loops[3..<6] == loops[6..<9])
            #expect(loops == (0..<9).map { seats.seat(for: Self.origin($0), now: 1).loop })
        }

        @Test func `an origin keeps its loop while it has attempts, however many others come`() {
            var seats = OriginSeats(loops: 2)
            let held = seats.seat(for: Self.origin(0), now: 0)
            // Each comes an hour after the one before, so that none of the others is remembered.
            for number in 1...10_001 {
                _ = seats.seat(for: Self.origin(number), now: Int64(number) * 3_600_000_000_000)
            }
            #expect(seats.seat(for: Self.origin(0), now: .max) === held)
            #expect(seats.count < 2_100)
        }

        @Test func `an origin keeps its loop while its last connection may be used again`() {
            var seats = OriginSeats(loops: 2)
            let first = ObjectIdentifier(seats.seat(for: Self.origin(0), now: 0))
            let second = 1_000_000_000
            seats.seat(for: Self.origin(0), now: 0).noteUse(Int64(100 * second))
            for number in 1...3_000 {
                _ = seats.seat(for: Self.origin(number), now: Int64(110 * second))
            }
            #expect(ObjectIdentifier(seats.seat(for: Self.origin(0), now: 0)) == first)
        }

        @Test func `no more origins without attempts are remembered than the limit`() {
            var seats = OriginSeats(loops: 2)
            for number in 0..<(4 * OriginSeats.limit) {
                _ = seats.seat(for: Self.origin(number), now: 0)
            }
            #expect(seats.count <= 2 * OriginSeats.limit)
        }

        @Test(arguments: [
            ("http://a.test/x", "http://A.TEST:80/?y"), ("https://a.test", "https://a.test:443/z"),
            ("http://[::1]:8080/", "http://[0:0::1]:8080/a"),
        ])
        func `an origin is the same in every spelling`(left: String, right: String) {
            let origins = [left, right].map {
                OriginSeats.origin(of: TransportRequest(url: testURL($0)))
            }
            #expect(origins[0] != nil && origins[0] == origins[1])
        }

        @Test func `plain loads through a proxy share the loop of the proxy's connections`() throws
        {
            var attempts = ["http://a.test/", "http://b.test/", "https://c.test/"].map {
                TransportRequest(url: testURL($0))
            }
            let proxy = try Proxy("http://proxy.test:3128")
            for index in attempts.indices { attempts[index].proxy = proxy }
            let hosts = attempts.map { OriginSeats.origin(of: $0)?.host }
            #expect(hosts == ["proxy.test", "proxy.test", "c.test"])
        }
    }
#endif
