// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Limits of simultaneous attempts that change while loads wait, and the slots of streams.
@Suite struct ConnectionSlotsTests {
    private static let url = testURL("http://origin.test/any/path?query")

    @Test func `a higher limit of a host starts its waiting loads at once`() throws {
        let bed = TestBed { $0.limits.perOrigin = 1 }
        for index in 0..<5 { bed.loader.perform(.make("/\(index)")) }
        bed.loader.perform(.make(host: "http://other.test"))
        bed.loader.perform(.make("/late", host: "http://other.test"))
        bed.settle()
        #expect(bed.starts.count == 2)
        try bed.service.slots.setMaximum(3, forHostOf: Self.url)
        bed.settle()
        #expect(bed.starts.map(\.path).suffix(2) == ["/1", "/2"])
        #expect(try bed.service.slots.maximum(forHostOf: Self.url) == 3)
        #expect(try bed.service.slots.maximum(forHostOf: testURL("http://other.test")) == 1)
    }

    @Test func `a lower limit of a host ends no attempt, and starts none until there is room`()
        throws
    {
        let bed = TestBed { $0.limits.perOrigin = 3 }
        for index in 0..<5 { bed.loader.perform(.make("/\(index)")) }
        bed.settle()
        try bed.service.slots.setMaximum(1, forHostOf: Self.url)
        bed.settle()
        for (ended, starts) in [3, 3, 4].enumerated() {
            #expect(bed.transport.attempts.allSatisfy { !$0.isCancelled })
            bed.transport.attempts[ended].respond(status: 200)
            bed.settle()
            #expect(bed.starts.count == starts)
        }
        try bed.service.slots.setMaximum(nil, forHostOf: Self.url)
        bed.settle()
        #expect(bed.starts.count == 5)
        for attempt in bed.transport.attempts.dropFirst(3) { attempt.respond(status: 200) }
        bed.expectNothingLeft()
    }

    @Test func `a higher limit in total starts the loads of several hosts`() throws {
        let bed = TestBed { $0.limits.total = 1 }
        for host in ["http://a.test", "http://b.test", "http://c.test"] {
            bed.loader.perform(.make(host: host))
        }
        bed.settle()
        #expect(bed.starts.count == 1)
        try bed.service.slots.setTotal(3)
        bed.settle()
        #expect(bed.starts.count == 3)
        #expect(bed.service.slots.total() == 3)
        #expect(bed.service.slots.total(of: .stream) == 64)
    }

    @Test(arguments: [0, -1, Int.min, 1_000_001, .max])
    func `a limit that is not a number of connections is refused and changes nothing`(limit: Int)
        throws
    {
        let slots = TestBed().service.slots
        #expect(throws: DataLoaderError.self) { try slots.setMaximum(limit, forHostOf: Self.url) }
        #expect(throws: DataLoaderError.self) { try slots.setTotal(limit, of: .stream) }
        #expect(try slots.maximum(forHostOf: Self.url) == 8)
        #expect(slots.total(of: .stream) == 64)
        #expect(throws: DataLoaderError.self) {
            try slots.setMaximum(1, forHostOf: testURL("ftp://origin.test"))
        }
    }

    @Test func `streams keep no slot of short loads, and have a limit of their own`() {
        let bed = TestBed {
            $0.limits.perOrigin = 1
            $0.limits.streamsPerOrigin = 2
        }
        for index in 0..<3 {
            bed.loader.perform(.make("/stream\(index)") { $0.slotUse = .stream })
            bed.loader.perform(.make("/\(index)"))
        }
        bed.settle()
        #expect(Set(bed.starts.map(\.path)) == ["/stream0", "/stream1", "/0"])
        bed.transport.attempts[0].respond(status: 200)
        bed.settle()
        #expect(bed.starts.last?.path == "/stream2")
        bed.transport.attempts[1].respond(status: 200)
        bed.settle()
        #expect(bed.starts.last?.path == "/1")
        for index in 2..<6 {
            bed.transport.attempts[index].respond(status: 200)
            bed.settle()
        }
        bed.expectNothingLeft()
    }

    @Test func `streams of all hosts together have a limit in total`() {
        let bed = TestBed { $0.limits.streams = 2 }
        for host in ["http://a.test", "http://b.test", "http://c.test"] {
            bed.loader.perform(.make(host: host) { $0.slotUse = .stream })
        }
        bed.settle()
        #expect(bed.starts.count == 2)
        bed.loader.cancelAllLoads()
        bed.expectNothingLeft()
    }

    @Test func `streams and short loads that wait for one rate start in turns`() {
        let bed = TestBed(otherwise: .respond(status: 200)) {
            $0.rateLimiter = RateLimiter(defaultRequestsPerSecond: 1)
        }
        for index in 0..<12 {
            bed.loader.perform(
                .make(index < 6 ? "/short" : "/stream") {
                    if index >= 6 { $0.slotUse = .stream }
                })
        }
        bed.settle()
        for _ in 0..<11 { bed.advance(.seconds(1)) }
        let paths = bed.starts.map(\.path)
        #expect(paths.count == 12)
        // The first load starts before the others wait.
        let waited = Array(paths.dropFirst().prefix(10))
        #expect(zip(waited, waited.dropFirst()).allSatisfy { $0 != $1 })
        bed.expectNothingLeft()
    }

    @Test func `a load that waits for a connection keeps its place while streams wait for a rate`()
    {
        let bed = TestBed {
            $0.limits.total = 1
            $0.rateLimiter.setRequestsPerSecond(
                1, forHostOf: testURL("http://rated.test"))
        }
        bed.loader.perform(.make("/running", host: "http://other.test"))
        bed.loader.perform(.make("/first", host: "http://rated.test"))
        bed.loader.perform(.make("/second", host: "http://other.test"))
        for _ in 0..<3 {
            bed.loader.perform(
                .make("/stream", host: "http://rated.test") { $0.slotUse = .stream })
        }
        bed.settle()
        // The timers of the streams run twice.
        for _ in 0..<2 { bed.advance(.seconds(1)) }
        #expect(bed.starts.map(\.path) == ["/running", "/stream", "/stream", "/stream"])
        bed.advance(.seconds(1))
        bed.transport.attempts[0].respond(status: 200)
        bed.settle()
        #expect(bed.starts.last?.path == "/first")
    }

    @Test func `a stream that is redirected gives back the slots that it took`() {
        let bed = TestBed(
            [.respond(status: 302, headers: ["Location": "http://other.test/"])],
            otherwise: .respond(status: 200))
        bed.loader.perform(.make { $0.slotUse = .stream })
        #expect(bed.error == nil)
        bed.expectNothingLeft()
    }
}
