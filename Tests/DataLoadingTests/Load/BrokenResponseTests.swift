// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingSupport
import DataLoadingTesting
import Foundation
import Testing

// The conditions under which a body may be resumed, and by which response.
@Suite struct BrokenResponseTests {
    private static let tag = "\"v1\""

    private static func broken(
        _ headers: HTTPHeaders, status: HTTPStatus = .ok,
        _ change: (inout DataLoaderRequest) -> Void = { _ in }
    ) -> BrokenResponse? {
        BrokenResponse(
            ResponseHead(status: status, headers: headers), to: .make(change: change),
            begun: Instant(nanoseconds: 0), error: .truncatedBody)
    }

    @Test
    func `a broken response is resumed only after a plain 200 to a GET with a strong validator`() {
        let tagged: HTTPHeaders = ["ETag": Self.tag]
        #expect(Self.broken(tagged) != nil)
        #expect(Self.broken([:]) == nil)
        for tag in ["W/\"v1\"", "v1", "\"", "\"a\"b\"", "\"a b\"", ""] {
            #expect(Self.broken(["ETag": tag]) == nil, "\(tag)")
        }
        #expect(Self.broken(["ETag": "\"\""]) != nil)
        #expect(Self.broken(tagged, status: .partialContent) == nil)
        #expect(Self.broken(tagged) { $0.method = .put } == nil)
        #expect(Self.broken(tagged) { $0.headers["Range"] = "bytes=0-" } == nil)
        #expect(Self.broken(tagged) { $0.resumesBrokenBodies = false } == nil)
        #expect(Self.broken(["ETag": Self.tag, "Content-Encoding": "gzip"]) == nil)
        #expect(Self.broken(["ETag": Self.tag, "Accept-Ranges": "none"]) == nil)
        #expect(Self.broken(["ETag": Self.tag, "Accept-Ranges": "bytes"]) != nil)
    }

    // RFC 9110 section 8.8.2.2
    @Test func `a Last-Modified date is a strong validator when it is a minute older than Date`() {
        let headers = { (date: String?) -> HTTPHeaders in
            var headers: HTTPHeaders = ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"]
            headers["Date"] = date
            return headers
        }
        #expect(Self.broken(headers("Sun, 06 Nov 1994 08:50:37 GMT")) != nil)
        #expect(Self.broken(headers("Sun, 06 Nov 1994 08:50:36 GMT")) == nil)
        #expect(Self.broken(headers("Sun, 06 Nov 1994 08:49:37 GMT")) == nil)
        #expect(Self.broken(headers("soon")) == nil)
        #expect(Self.broken(headers(nil)) == nil)
        // A weak tag means that the date is not a strong validator either.
        var weak = headers("Sun, 06 Nov 1994 09:49:37 GMT")
        weak["ETag"] = "W/\"v1\""
        #expect(Self.broken(weak) == nil)
    }

    @Test func `a resumed request asks for the missing range with If-Range`() throws {
        let broken = try #require(Self.broken(["ETag": Self.tag]))
        var request = DataLoaderRequest.make()
        broken.resume(&request, at: 5)
        #expect(request.headers["Range"] == "bytes=5-")
        #expect(request.headers["If-Range"] == Self.tag)
        #expect(request.headers["Accept-Encoding"] == "identity")
        request.headers["Accept-Encoding"] = "br"
        broken.resume(&request, at: 6)
        #expect(request.headers["Range"] == "bytes=6-")
        #expect(request.headers["Accept-Encoding"] == "br")
    }

    @Test func `a response to a resumed request is appended only if it fits exactly`() throws {
        let broken = try #require(Self.broken(["ETag": Self.tag, "Content-Length": "10"]))
        let meaning = { (status: Int, headers: HTTPHeaders) in
            broken.meaning(
                of: ResponseHead(status: HTTPStatus(rawValue: status), headers: headers), at: 5)
        }
        let fits: HTTPHeaders = ["ETag": Self.tag, "Content-Range": "bytes 5-9/10"]
        let range = try #require(ContentRange("bytes 5-9/10"))
        #expect(meaning(206, fits) == .rest(range))
        let part = try #require(ContentRange("bytes 5-6/10"))
        #expect(meaning(206, ["ETag": Self.tag, "Content-Range": "bytes 5-6/10"]) == .rest(part))
        let wrong: [HTTPHeaders] = [
            ["ETag": Self.tag], ["Content-Range": "bytes 5-9/10"],
            ["ETag": "\"v2\"", "Content-Range": "bytes 5-9/10"],
            ["ETag": "W/\"v1\"", "Content-Range": "bytes 5-9/10"],
            ["ETag": Self.tag, "Content-Range": "bytes 4-9/10"],
            ["ETag": Self.tag, "Content-Range": "bytes 6-9/10"],
            ["ETag": Self.tag, "Content-Range": "bytes 5-9/11"],
            ["ETag": Self.tag, "Content-Range": "bytes 5-9/*"],
            ["ETag": Self.tag, "Content-Range": "bytes 5-9/10", "Content-Encoding": "gzip"],
            ["ETag": Self.tag, "Content-Range": "bytes 5-9/10", "Content-Length": "6"],
            ["ETag": Self.tag, "Content-Type": "multipart/byteranges; boundary=x"],
        ]
        for headers in wrong { #expect(meaning(206, headers) == .useless, "\(headers.fields)") }
        var twice = fits
        twice.add("bytes 5-9/10", for: "Content-Range")
        #expect(meaning(206, twice) == .useless)
        #expect(meaning(200, [:]) == .whole)
        #expect(meaning(200, ["Content-Encoding": "gzip"]) == .useless)
        #expect(meaning(416, ["Content-Range": "bytes */10"]) == .useless)
        #expect(meaning(503, [:]) == .other)
    }

    @Test func `a Content-Range is read only if its numbers are consistent`() {
        for text in [
            "", "bytes", "bytes 0-0", "bytes 0-0/0", "bytes 1-0/5", "bytes 0-5/5", "bytes -1-2/5",
            "bytes +1-2/5", "bytes 0-1/", "bytes 0-/5", "bytes */5", "items 0-1/5", "bytes=0-1/5",
            "bytes 0-1/99999999999999999999", "bytes 0-1/5 ", "bytes 0 -1/5", "bytes 0/1-5",
        ] {
            #expect(ContentRange(text) == nil, "\(text)")
        }
        #expect(ContentRange("Bytes 0-0/1")?.last == 0)
        #expect(ContentRange("bytes 0-9223372036854775806/9223372036854775807") != nil)
    }
}

extension DataLoaderRequest {
    fileprivate static func make(
        change: (inout DataLoaderRequest) -> Void
    ) -> DataLoaderRequest { make("/", change) }
}
