// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingCache
import DataLoadingSupport
import DataLoadingTesting
import DataLoadingTransport
import Dispatch
import Foundation
import Testing

/// The files of a cache, without queues.
@Suite struct DiskFilesTests {
    private let bed = DiskBed()

    @Test(arguments: 0..<8)
    func `a response of any length is found again by another process`(number: Int) throws {
        let first = try bed.files()
        #expect(try first.store(NumberedResponse(path: "/a", number: number)))
        #expect(try first.number("/a") == number)
        let second = try bed.files()
        #expect(try second.number("/a") == number)
        #expect(try second.number("/b") == nil)
        #expect(bed.entries.count == 1)
    }

    @Test func `fields, status and variant of a response stay as they were`() throws {
        let files = try bed.files()
        var numbered = NumberedResponse(path: "/a?b", number: 2)
        numbered.vary = "Accept-Language, Foo"
        numbered.request = ["Accept-Language": "de, EN", "Authorization": "secret"]
        let response = try numbered.response()
        try files.store(numbered)
        let other = try bed.files()
        guard case .entry(let found, _, _) = try other.find(numbered) else {
            Issue.record("nothing is found")
            return
        }
        #expect(found.status == response.status)
        #expect(found.headers.hasSameBytes(as: response.headers))
        #expect(found.variant == response.variant)
        #expect(found.times.received.wall == response.times.received.wall)
        #expect(found.times.delay == response.times.delay)
        #expect(!found.times.isOfThisProcess)
        for request: HTTPHeaders in [[:], ["Accept-Language": "de, en", "Authorization": "other"]] {
            var asked = numbered
            asked.request = request
            guard case .otherVariants = try other.find(asked) else {
                Issue.record("found for another request")
                return
            }
        }
        let file = try Data(
            contentsOf: bed.directory.appendingPathComponent(try #require(bed.entries.first)))
        #expect(file.range(of: Data("secret".utf8)) == nil)
    }

    @Test func `a response replaces those that its request would choose`() throws {
        let files = try bed.files()
        var german = NumberedResponse(path: "/a", number: 2, vary: "Foo", request: ["Foo": "1"])
        try files.store(german)
        try files.store(NumberedResponse(path: "/a", number: 3, vary: "Foo", request: ["Foo": "2"]))
        #expect(try files.number("/a", ["Foo": "1"]) == 2)
        #expect(try files.number("/a", ["Foo": "2"]) == 3)
        #expect(try files.number("/a", ["Foo": "3"]) == nil)
        german = NumberedResponse(path: "/a", number: 6, vary: "Bar", request: ["Foo": "1"])
        try files.store(german)
        #expect(try files.number("/a", ["Foo": "1"]) == 6)
        #expect(try files.number("/a", ["Foo": "1", "Bar": "1"]) == nil)
        #expect(try files.number("/a", ["Foo": "2", "Bar": "1"]) == 3)
        #expect(bed.entries.count == 2)
    }

    @Test func `the latest of the responses that a request chooses is found`() throws {
        let (one, two) = (try bed.files(), try bed.files())
        // Two processes that do not see each other's file in time would leave both.
        let late = NumberedResponse(
            path: "/a", number: 6, vary: "Foo", request: ["Foo": "1"], time: 1_767_225_610)
        try one.store(late)
        let path = bed.directory.appendingPathComponent(try #require(bed.entries.first))
        let kept = try Data(contentsOf: path)
        try two.store(NumberedResponse(path: "/a", number: 2))
        try kept.write(to: path)
        #expect(bed.entries.count == 2)
        #expect(try one.number("/a", ["Foo": "1"]) == 6)
        #expect(try one.number("/a", ["Foo": "2"]) == 2)
    }

    @Test func `no more than 32 variants of a URL are kept`() throws {
        let files = try bed.files()
        for index in 0..<40 {
            try files.store(
                NumberedResponse(
                    path: "/a", number: 8 * index + 2, vary: "Foo", request: ["Foo": "\(index)"]))
        }
        #expect(bed.entries.count == 32)
        #expect(try files.number("/a", ["Foo": "39"]) == 314)
    }

    @Test func `a confirmed response has its new fields and times, and its body`() throws {
        for number in [2, 5] {
            let files = try bed.files()
            let old = NumberedResponse(path: "/a", number: number)
            try files.store(old)
            let response = try old.response()
            let confirmed = try #require(
                response.confirmed(
                    by: ResponseHead(status: .notModified, headers: ["Extra": "1"]), to: [:],
                    times: ResponseTimes(
                        requested: NumberedResponse.moment(1_767_225_699).monotonic,
                        received: NumberedResponse.moment(1_767_225_700)),
                    hasQuery: false))
            #expect(try files.update(old, by: confirmed))
            // What is no longer there is not confirmed.
            #expect(try !files.update(old, by: confirmed))
            let other = try bed.files()
            guard case .entry(let found, let body, _) = try other.find(old) else {
                Issue.record("nothing is found")
                return
            }
            #expect(found.headers["Extra"] == "1")
            #expect(found.times.received.wall == 1_767_225_700_000)
            #expect(body.bytes == old.body)
        }
    }

    @Test func `a confirmation that makes a response vary on everything removes it`() throws {
        let files = try bed.files()
        let old = NumberedResponse(path: "/a", number: 2)
        try files.store(old)
        let response = try old.response()
        let confirmed = try #require(
            response.confirmed(
                by: ResponseHead(status: .notModified, headers: ["Vary": "*"]), to: [:],
                times: response.times, hasQuery: false))
        #expect(try !files.update(old, by: confirmed))
        #expect(bed.entries.isEmpty)
    }

    @Test func `a removal concerns all partitions and variants of a URL, and nothing else`() throws
    {
        let files = try bed.files()
        for partition in [CacheKey.Partition.shared, .named("a"), .named("b")] {
            for foo in ["1", "2"] {
                try files.store(
                    NumberedResponse(
                        path: "/a", number: 2, vary: "Foo", request: ["Foo": foo],
                        partition: partition))
            }
            try files.store(NumberedResponse(path: "/b", number: 3, partition: partition))
        }
        #expect(bed.entries.count == 9)
        try files.remove("/a")
        #expect(bed.entries.count == 3)
        #expect(try files.forget(.named("a")))
        #expect(try files.number("/b", [:], .named("a")) == nil)
        #expect(try files.number("/b", [:], .named("b")) == 3)
        #expect(try files.number("/b") == 3)
        #expect(files.removeAll())
        #expect(try files.number("/b") == nil)
        try files.store(NumberedResponse(path: "/b", number: 4))
        #expect(try files.number("/b") == 4)
        DiskScan.removeLeftTrees(files.state.directory)
        #expect(bed.paths == bed.entries)
        #expect(bed.paths.count == 1)
    }

    @Test func `a file with a damaged byte, cut or made longer is never another body`() throws {
        for number in [7, 2, 5] {
            let files = try bed.files()
            try files.store(NumberedResponse(path: "/a", number: number))
            let path = bed.directory.appendingPathComponent(try #require(bed.entries.first))
            let whole = try Data(contentsOf: path)
            var generator = SeededGenerator(seed: 5)
            let positions =
                whole.count < 600
                ? Array(0..<whole.count)
                : (0..<60).map { _ in Int.random(in: 0..<whole.count, using: &generator) }
            for position in positions {
                var damaged = whole
                damaged[position] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                for bytes in [damaged, whole.prefix(position), whole + Data(count: position + 1)] {
                    try? FileManager.default.removeItem(at: path)
                    try bytes.write(to: path)
                    #expect(try files.number("/a") == nil)
                }
            }
            // It is removed, at the latest when the next request looks.
            #expect(try files.number("/a") == nil)
            #expect(bed.entries.isEmpty)
            try whole.write(to: path)
            #expect(try files.number("/a") == number)
        }
    }

    @Test func `a file under another name, a link and a folder are no responses`() throws {
        let files = try bed.files()
        try files.store(NumberedResponse(path: "/a", number: 2))
        let a = try NumberedResponse(path: "/a", number: 2).diskKey()
        let b = try NumberedResponse(path: "/b", number: 2).diskKey()
        let variant = try NumberedResponse(path: "/a", number: 2).response().variant.fields
        let present = DiskDirectory.path(a.name(variant))
        let wrong = DiskDirectory.path(b.name(variant))
        try files.state.directory.makeFolder(DiskDirectory.folder(b.name(variant).folder))
        try files.state.directory.rename(present, to: wrong)
        #expect(try files.number("/b") == nil)
        try files.state.directory.rename(wrong, to: present)
        #expect(try files.number("/a") == 2)
        let path = bed.directory.appendingPathComponent(wrong)
        try FileManager.default.createSymbolicLink(
            at: path, withDestinationURL: bed.directory.appendingPathComponent(present))
        #expect(try files.number("/b") == nil)
        try? FileManager.default.removeItem(at: path)
        try FileManager.default.createDirectory(at: path, withIntermediateDirectories: false)
        #expect(try files.number("/b") == nil)
    }

    @Test func `a body that is being read is not disturbed by another file or a removal`() throws {
        let files = try bed.files()
        let old = NumberedResponse(path: "/a", number: 5)
        try files.store(old)
        guard case .entry(_, let body, _) = try files.find(old) else {
            Issue.record("nothing is found")
            return
        }
        guard case .file(let file) = body else {
            Issue.record("the body is in memory")
            return
        }
        #expect(file.block(0) == old.body.prefix(65_536))
        try files.store(NumberedResponse(path: "/a", number: 13))
        _ = files.removeAll()
        #expect(body.bytes == old.body)
        #expect(file.block(3) == nil)
        #expect(file.block(-1) == nil)
    }

    @Test func `there are no more open bodies than the limit`() throws {
        let files = try bed.files(DiskBed.settings { $0.maxOpenBodies = 2 })
        try files.store(NumberedResponse(path: "/a", number: 5))
        let response = NumberedResponse(path: "/a", number: 5)
        var bodies = try (0..<2).map { _ in try files.find(response) }
        #expect(try files.number("/a") == nil)
        bodies.removeLast()
        #expect(try files.number("/a") == 5)
        withExtendedLifetime(bodies) {}
    }
}
