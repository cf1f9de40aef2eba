// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// A download continues where an earlier load, of this process or another, has ended.
@Suite struct ResumedFileTests {
    private typealias Bed = ResumedFileBed
    private let bed = ResumedFileBed()

    @Test func `a load continues the part of an earlier one and delivers the whole file`() async {
        await bed.leavePart()
        #expect(bed.content == nil)
        #expect(bed.part == patternBytes(40))
        let next = await bed.load([
            Bed.rest(from: 39, ["ETag": "\"v1\"", "Content-Type": "text/plain"])
        ])
        #expect(next.error == nil)
        #expect(bed.content == patternBytes(100))
        #expect(bed.directory.names == ["file"])
        // One byte is loaded again, so that a part that is complete can be continued too.
        #expect(next.ranges == ["bytes=39-"])
        #expect(next.sent.first?.headers["If-Range"] == "\"v1\"")
        #expect(next.sent.first?.headers["Accept-Encoding"] == "identity")
        #expect(next.response?.statusCode == .ok)
        #expect(next.response?.headers["Content-Type"] == "text/plain")
        #expect(next.response?.headers["Content-Length"] == "100")
        #expect(next.response?.headers["Content-Range"] == nil)
        #expect(next.response?.bodyFile == bed.destination)
        #expect(next.response?.metrics.decodedBytes == 61)
    }

    @Test func `a part that is complete is asked for its last byte only`() async {
        for headers: HTTPHeaders in [Bed.tagged, ["ETag": "\"v1\""]] {
            await bed.leavePart(100, headers)
            let next = await bed.load([Bed.rest(from: 99)])
            #expect(next.error == nil)
            #expect(next.ranges == ["bytes=99-"])
            #expect(bed.content == patternBytes(100))
            #expect(bed.directory.names == ["file"])
        }
    }

    @Test func `a server that answers a range with the whole lets the file start over`() async {
        await bed.leavePart()
        let next = await bed.load([
            .respond(status: 200, headers: ["ETag": "\"v2\""], body: Data("new".utf8))
        ])
        #expect(next.error == nil)
        #expect(next.ranges == ["bytes=39-"])
        #expect(bed.content == Data("new".utf8))
        #expect(bed.directory.names == ["file"])
    }

    // Whatever a server says of its range: it is not appended unless it fits, and costs no retry.
    @Test func `a range that does not continue the part is followed by one for the whole`() async {
        let wrong: [ScriptedAnswer] = [
            .respond(status: 416, headers: ["Content-Range": "bytes */39"]),
            .respond(status: 416, headers: ["Content-Range": "bytes */40"]),
            .respond(status: 416), Bed.rest(from: 40), Bed.rest(from: 38), Bed.rest(from: 0),
            Bed.rest(from: 39, of: 101), Bed.rest(from: 39, ["ETag": "\"v2\""]),
            Bed.rest(from: 39, ["ETag": "W/\"v1\""]), Bed.rest(from: 39, [:]),
            Bed.rest(from: 39, ["ETag": "\"v1\"", "Content-Length": "5"]),
            Bed.rest(from: 39, ["ETag": "\"v1\"", "Content-Encoding": "gzip"]),
            .respond(status: 206, headers: ["ETag": "\"v1\""], body: patternBytes(61, from: 39)),
            .respond(
                status: 206, headers: ["ETag": "\"v1\"", "Content-Range": "bytes 39-99/*"],
                body: patternBytes(61, from: 39)),
            .respond(
                status: 206,
                headers: ["ETag": "\"v1\"", "Content-Type": "multipart/byteranges; boundary=x"],
                body: Data("--x".utf8)),
        ]
        for answer in wrong {
            await bed.leavePart()
            let next = await bed.load([answer, Bed.whole])
            #expect(next.error == nil)
            #expect(next.ranges == ["bytes=39-", nil])
            #expect(next.response?.metrics.retries == 0)
            #expect(bed.content == patternBytes(100))
            #expect(bed.directory.names == ["file"])
        }
    }

    @Test func `a 206 that was not asked for does not become the file`() async {
        let lie = Bed.rest(from: 0, to: 9, of: 100)
        let error = DataLoaderError.framing(reason: "a range that was not asked for")
        #expect(await bed.load([lie]).error == error)
        #expect(bed.directory.names.isEmpty)
        await bed.leavePart()
        #expect(await bed.load([Bed.rest(from: 38), lie]).error == error)
        #expect(bed.content == nil)
        #expect(bed.part == patternBytes(40))
    }

    @Test func `a range with other bytes than it declares does not become the file`() async {
        await bed.leavePart()
        let long = await bed.load([Bed.rest(from: 39, count: 62)])
        #expect(long.error == .framing(reason: "more than the range"))
        #expect(bed.content == nil)
        #expect(bed.part == patternBytes(40))
        let short = await bed.load([Bed.rest(from: 39, to: 99, count: 30)])
        #expect(short.error == .truncatedBody)
        #expect(bed.content == nil)
        #expect(bed.part == patternBytes(69))
        #expect(await bed.load([Bed.rest(from: 68)]).error == nil)
        #expect(bed.content == patternBytes(100))
    }

    @Test(arguments: [400, 403, 404, 412, 500, 503])
    func `a status that is no success keeps the part`(status: Int) async {
        await bed.leavePart()
        let next = await bed.load([.respond(status: status, body: Data("no".utf8))])
        #expect(next.error == .status(HTTPStatus(rawValue: status)))
        #expect(next.response?.body == Data("no".utf8))
        #expect(bed.part == patternBytes(40))
        #expect(await bed.load([Bed.rest(from: 39)]).error == nil)
        #expect(bed.content == patternBytes(100))
    }

    @Test func `a part without a strong validator is not kept`() async {
        let weak: [HTTPHeaders] = [
            [:], ["ETag": "W/\"v1\""], ["ETag": "v1"],
            ["ETag": "\"v1\"", "Accept-Ranges": "none"],
            ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"],
            [
                "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT",
                "Date": "Sun, 06 Nov 1994 08:49:38 GMT",
            ],
            ["ETag": "\"\(String(repeating: "x", count: 5_000))\""],
        ]
        for headers in weak {
            await bed.leavePart(40, headers)
            #expect(bed.part == nil, "\(headers)")
            #expect(!FileManager.default.fileExists(atPath: bed.place.record.path))
            #expect(await bed.load([Bed.whole]).ranges == [nil])
        }
    }

    // Some versions of libcurl lose pieces of bodies over HTTP/2.
    @Test func `a part that may lack a piece is not kept`() async {
        let load = await bed.load([
            .run { attempt in
                attempt.sendHeadOfUnsafeBody(status: 200, headers: Bed.tagged)
                attempt.send(patternBytes(40))
                attempt.fail(.truncatedBody, sent: .headReceived)
            }
        ])
        #expect(load.error == .truncatedBody)
        #expect(bed.directory.names.isEmpty)
        #expect(await bed.load([Bed.whole]).ranges == [nil])
        #expect(bed.content == patternBytes(100))
    }

    // Representations that other fields choose may have the date in common.
    @Test func `a date continues a part only where no other field chooses the body`() async {
        let same = ["Accept", "accept-encoding, Accept-Language", "Accept,,accept-language", ""]
        let others = ["*", "Cookie", "Accept, User-Agent", "accept-encoding, *"]
        for (vary, isKept) in same.map({ ($0, true) }) + others.map({ ($0, false) }) {
            let dated: HTTPHeaders = [
                "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT",
                "Date": "Sun, 06 Nov 1994 09:49:37 GMT", "Vary": vary,
            ]
            await bed.leavePart(40, dated)
            #expect((bed.part != nil) == isKept, "\(vary)")
            // Each representation has a tag of its own.
            await bed.leavePart(40, ["ETag": "\"v1\"", "Vary": vary])
            #expect(bed.part == patternBytes(40), "\(vary)")
            #expect(await bed.load([Bed.rest(from: 39)]).error == nil)
        }
    }

    @Test func `a date that is a strong validator continues a part`() async {
        let dated: HTTPHeaders = [
            "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT",
            "Date": "Sun, 06 Nov 1994 09:49:37 GMT",
        ]
        await bed.leavePart(40, dated)
        let next = await bed.load([Bed.rest(from: 39, dated)])
        #expect(next.sent.first?.headers["If-Range"] == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(next.error == nil)
        #expect(bed.content == patternBytes(100))
    }

    @Test func `a request for something else starts over, and keeps the part when it fails`() async
    {
        await bed.leavePart()
        let others = [
            bed.request("/?secret=1"), bed.request { $0.headers["Accept"] = "text/plain" },
            bed.request { $0.headers["Accept-Language"] = "fr" },
            bed.request(sha256: SHA256Tests.hex(patternBytes(100, from: 1))),
        ]
        for other in others {
            #expect(await bed.load(other, [.fail(.connectRefused)]).ranges == [nil])
            #expect(bed.part == patternBytes(40))
        }
        let other = await bed.load(
            others[0],
            [.respond(status: 200, headers: ["ETag": "\"v1\""], body: Data("other".utf8))])
        #expect(other.error == nil)
        #expect(bed.content == Data("other".utf8))
    }

    @Test func `the record of a part names no URL`() async throws {
        await bed.leavePart(40, Bed.tagged, bed.request("/?secret=1"))
        let record = try String(contentsOf: bed.place.record, encoding: .utf8)
        #expect(record.contains("v1"))
        #expect(!record.contains("secret"))
        #expect(!record.contains("origin"))
    }

    @Test func `a request that is no plain GET leaves no part`() async {
        let plain = [
            bed.request { $0.method = .post }, bed.request { $0.headers["Range"] = "bytes=0-" },
            bed.request { $0.body = .data(Data("x".utf8)) },
            bed.request {
                $0.headers["Range"] = "bytes=5-"
                $0.headers["If-Range"] = "\"v1\""
            },
        ]
        for request in plain {
            let load = await bed.load(request, [Bed.breaks(after: 40)])
            #expect(load.error == .truncatedBody)
            #expect(load.sent.first?.headers["Accept-Encoding"] == nil)
            #expect(bed.directory.names.isEmpty)
        }
    }

    @Test func `a body with a coding that was not asked for is loaded again as it would be`() async
    {
        let coded: HTTPHeaders = ["ETag": "\"v1\"", "Content-Encoding": "gzip"]
        let load = await bed.load([
            .respond(status: 200, headers: coded, body: Data("coded".utf8)),
            // The transport decodes what was asked for without the field.
            .respond(status: 200, headers: coded, body: patternBytes(100)),
        ])
        #expect(load.error == nil)
        #expect(load.sent.map { $0.headers["Accept-Encoding"] } == ["identity", nil])
        #expect(bed.content == patternBytes(100))
        let own = bed.request { $0.headers["Accept-Encoding"] = "br" }
        let once = await bed.load(
            own, [.respond(status: 200, headers: coded, body: Data("coded".utf8))])
        #expect(once.sent.map { $0.headers["Accept-Encoding"] } == ["br"])
        #expect(bed.content == Data("coded".utf8))
    }
}
