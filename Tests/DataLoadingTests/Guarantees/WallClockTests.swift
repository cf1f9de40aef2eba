// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// A jump of the wall clock makes no timer fire earlier or later.
@Suite struct WallClockTests {
    /// Jumps of the wall clock in seconds, among them a leap second.
    private static let jumps: [Double] = [1, -1, 3_600, -3_600, 315_576_000, -315_576_000]

    private typealias Jump = (TestBed) -> Void

    /// Compares the events of a scenario with and without jumps.
    private static func compare(
        _ jump: Double, sourceLocation: SourceLocation = #_sourceLocation,
        _ story: (_ jump: Jump) throws -> [String]
    ) rethrows {
        let told = try story { $0.settle() }
        let again = try story { bed in
            bed.clock.setDate(bed.clock.date.addingTimeInterval(jump))
            bed.settle()
        }
        #expect(told.count > 1, sourceLocation: sourceLocation)
        #expect(again == told, sourceLocation: sourceLocation)
    }

    private static func starts(_ bed: TestBed) -> [String] {
        bed.starts.map { "\($0.at) \($0.path)" }
    }

    /// Advances to each due timer, with a jump before each.
    private static func pass(_ bed: TestBed, _ jump: Jump) {
        repeat { jump(bed) } while bed.passPause()
    }

    @Test(arguments: jumps) func `the rate limiter keeps its spacing when the wall clock jumps`(
        jump: Double
    ) {
        Self.compare(jump) { jump in
            let bed = TestBed(otherwise: .respond(status: 200)) {
                $0.rateLimiter = RateLimiter(defaultRequestsPerSecond: 4, burst: 2)
            }
            for index in 0..<6 { bed.loader.perform(.make("/\(index)")) }
            Self.pass(bed, jump)
            bed.expectNothingLeft()
            return Self.starts(bed)
        }
    }

    @Test(arguments: jumps) func `a Retry-After gate opens on time when the wall clock jumps`(
        jump: Double
    ) {
        for value in ["2", "Thu, 01 Jan 2026 00:00:02 GMT"] {
            Self.compare(jump) { jump in
                let bed = TestBed(
                    [.respond(status: 503, headers: ["Retry-After": value])],
                    otherwise: .respond(status: 200))
                bed.loader.perform(.make("/first"))
                bed.settle()
                for index in 0..<3 { bed.loader.perform(.make("/\(index)")) }
                Self.pass(bed, jump)
                bed.expectNothingLeft()
                return Self.starts(bed)
            }
        }
    }

    @Test(arguments: jumps)
    func `an address stays ejected as long as set when the wall clock jumps`(
        jump: Double
    ) {
        Self.compare(jump) { jump in
            let bed = TestBed([.fail(.connectRefused)], otherwise: .respond(status: 200))
            bed.service.resolver.setAddresses(["10.0.0.1", "10.0.0.2"], forHost: "origin.test")
            for _ in 0..<40 {
                bed.loader.perform(.make())
                jump(bed)
                bed.advance(.seconds(1))
            }
            let addresses = bed.transport.attempts.map { $0.request.address ?? "" }
            #expect(Set(addresses.suffix(5)) == ["10.0.0.1"])
            #expect(addresses[..<10].count { $0 == "10.0.0.1" } == 1)
            bed.expectNothingLeft()
            return addresses
        }
    }

    @Test(arguments: jumps) func `deadlines and pauses keep their length when the wall clock jumps`(
        jump: Double
    ) {
        Self.compare(jump) { jump in
            let bed = TestBed(otherwise: .fail(.noResponse, sent: .written)) {
                $0.retry.maximumRetryCount = 3
            }
            bed.loader.perform(.make("/retried"))
            Self.pass(bed, jump)
            bed.transport.then(.hold)
            bed.loader.perform(.make("/held") { $0.timeout = .seconds(3) })
            let begun = bed.clock.elapsed
            Self.pass(bed, jump)
            #expect(bed.clock.elapsed - begun == .seconds(3))
            #expect(bed.error?.name == "timed_out")
            bed.expectNothingLeft()
            return Self.starts(bed) + [
                "\(bed.clock.elapsed)", "\(bed.ended?.response?.requestTime ?? .zero)",
            ]
        }
    }

    // Validated by date: the validator is compared with the server's clock, not with the client's.
    @Test(arguments: jumps) func `a broken body is resumed when the wall clock jumps`(jump: Double)
    {
        Self.compare(jump) { jump in
            let headers: HTTPHeaders = [
                "Last-Modified": "Wed, 31 Dec 2025 22:00:00 GMT",
                "Date": "Thu, 01 Jan 2026 00:00:00 GMT", "Content-Length": "100",
            ]
            let bed = TestBed()
            bed.loader.perform(.make { $0.retryPolicy = .immediately(maximumRetries: 1) })
            bed.settle()
            let first = bed.transport.attempts[0]
            first.sendHead(status: 200, headers: headers)
            first.send(patternBytes(40))
            jump(bed)
            first.fail(.truncatedBody, sent: .headReceived)
            jump(bed)
            bed.settle()
            var rest = headers
            rest["Content-Range"] = "bytes 40-99/100"
            rest["Content-Length"] = "60"
            bed.transport.attempts.last?.respond(
                status: 206, headers: rest, body: patternBytes(60, from: 40))
            bed.settle()
            #expect(bed.ended?.response?.body == patternBytes(100))
            return bed.transport.attempts.map { $0.request.headers["Range"] ?? "" }
        }
    }
}
