// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Every parser of what a server sends: no trap and no access out of bounds, whatever the bytes.
@Suite struct FuzzTests {
    private static let date = Date(timeIntervalSince1970: 1_767_225_600)

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func `the HTTP date parser accepts or refuses any bytes`() {
        let seeds = [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994", "Fri, 31 Dec 9999 23:59:60 GMT",
            "Thu, 29 Feb 2024 00:00:00 GMT", "Sat Jan  1 00:00:00 0000",
        ]
        let words = [
            " GMT", "Feb", "29", "Sunday, ", "Mon, ", "9999", "0000", "60", "-", ":", "  ",
        ]
        fuzz(seeds, words: words) { input in
            let text = Self.text(input)
            let now = Int64(Self.date.timeIntervalSince1970)
            guard let seconds = HTTPDate.secondsSince1970(text[...], now: now) else {
                return .refused
            }
            guard (-62_167_219_200...253_402_300_800).contains(seconds) else {
                return .wrong("\(seconds)")
            }
            guard seconds <= 253_402_300_799 else { return .taken }
            let again = HTTPDate.secondsSince1970(Self.fixdate(seconds)[...], now: now)
            return again == seconds ? .taken : .wrong("\(seconds), again \(again ?? -1)")
        }
    }

    /// The date in the format of RFC 9110.
    private static func fixdate(_ seconds: Int64) -> Substring {
        let date = CivilDate(secondsSince1970: seconds)
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        func two(_ number: Int64) -> String { (number < 10 ? "0" : "") + "\(number)" }
        let year = String(repeating: "0", count: 4 - "\(date.year)".count) + "\(date.year)"
        let second = date.secondOfDay
        let time = [second / 3_600, second / 60 % 60, second % 60].map(two).joined(separator: ":")
        return "Mon, \(two(date.day)) \(months[Int(date.month) - 1]) \(year) \(time) GMT"
    }

    @Test func `the parsers of Retry-After and X-Rate-Limit-Reset accept or refuse any bytes`() {
        let seeds = [
            "0", "120", " 5 ", "Sun, 06 Nov 2044 08:49:37 GMT", "1, 2", "99999999999999999999",
            "Mon, 1", "Sunday, 06-Nov-94 08:49:37 GMT, 7", "",
        ]
        fuzz(seeds, words: [",", " ", "\t", "GMT", "Sun, ", "-1", "1.5", "1e9", "soon"]) { input in
            let text = Self.text(input)
            let reset = RetryAfter.rateLimitReset(
                in: ["X-RateLimit-Reset": text], date: Self.date)
            if let reset, reset < .zero { return .wrong("\(reset)") }
            guard let delay = RetryAfter.delay(from: [text], date: Self.date) else {
                return .refused
            }
            guard delay >= .zero, delay <= .nanoseconds(Int64.max) else {
                return .wrong("\(delay)")
            }
            let padded = RetryAfter.delay(from: ["x", " \(text)\t", ""], date: Self.date)
            return padded == delay ? .taken : .wrong("padded \(padded ?? .seconds(-1))")
        }
    }

    @Test func `the Content-Range parser accepts or refuses any bytes`() {
        let seeds = [
            "bytes 0-9/10", "bytes 5-9/10", "BYTES 0-0/1", "bytes */10", "bytes 0-9/*",
            "bytes 9223372036854775806-9223372036854775806/9223372036854775807",
        ]
        let words = [
            "bytes ", "-", "/", "*", " ", ",", "+1", "\u{301}", "9223372036854775808", "00",
        ]
        fuzz(seeds, words: words) { input in
            let text = Self.text(input)
            guard let range = ContentRange(text) else { return .refused }
            guard 0 <= range.first, range.first <= range.last, range.last < range.length else {
                return .wrong("\(range)")
            }
            // An accepted text contains only the three numbers.
            let rest = text.utf8.dropFirst(6)
            let numbers = rest.split { !$0.isDigit }
            let digits = numbers.reduce(0) { $0 + $1.count }
            guard text.utf8.prefix(6).map(\.asciiLowercased).elementsEqual("bytes ".utf8),
                rest.count == digits + 2,
                numbers.map({ Int64(String(decoding: $0, as: UTF8.self)) })
                    == [range.first, range.last, range.length]
            else { return .wrong("\(text) for \(range)") }
            return .taken
        }
    }

    @Test func `the Location resolver accepts or refuses any bytes`() throws {
        let base = try RequestTarget(text: "https://a.test:8443/b/c/d;p?q")
        let seeds = [
            "/g", "../g?y#s", "//h/x", "http://h:80/a/./b/../c", "?y", "g;x=1/../y", ".", "",
            "https://[::1]:8443/%2F", "HTTP://H", "a|b{c}", "file:///x", "http://u@h/",
        ]
        let words = [
            "..", "/../", "/./", "//", "http://", "https:", "%2e", "%zz", "@", "[", "]", ":", "\\",
            "#", "?", "\r\n", "\0", "\u{E9}", ":0", ":65536",
        ]
        fuzz(seeds, words: words) { input in
            let resolved = ReferenceResolution.resolve(Self.text(input), against: base)
            guard let target = try? RequestTarget(text: resolved) else { return .refused }
            guard target.urlText.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                return .wrong("bytes: \(target.urlText)")
            }
            guard (try? RequestTarget(text: target.urlText)) == target else {
                return .wrong("not itself: \(target.urlText)")
            }
            let segments = target.pathAndQuery.prefix { $0 != "?" }.split(separator: "/")
            guard !segments.contains("."), !segments.contains("..") else {
                return .wrong("dots: \(target.urlText)")
            }
            let again = ReferenceResolution.resolve(target.urlText, against: base)
            guard again == target.urlText else { return .wrong("again: \(again)") }
            return .taken
        }
    }

    @Test func `a redirect with any Location keeps secrets within their origin`() throws {
        let target = try RequestTarget(text: "http://origin.test/a")
        let seeds = [
            "/b", "//other.test/", "https://origin.test/", "http://origin.test:81/|", "?x",
        ]
        let words = [
            "http://", "ORIGIN.test", "origin.test.", ":80", "@", "/", "%", "|", "^", "[::1]",
        ]
        fuzz(seeds, words: words) { input in
            var request = DataLoaderRequest.make("/a")
            request.headers = ["Authorization": "x", "X-Api-Key": "x", "Accept": "y"]
            let head = ResponseHead(
                status: HTTPStatus(rawValue: 307), headers: ["Location": Self.text(input)])
            let decision = Redirection.decide(
                head, for: request, madeFor: target.origin, at: target, visits: [])
            guard case .follow(let next) = decision else { return .refused }
            guard let read = try? RequestTarget(next.request.url) else {
                return .wrong("\(next.request.url.absoluteString) is no target")
            }
            let isSame = next.target.origin == target.origin
            guard read.origin == next.target.origin,
                next.request.headers.contains("X-Api-Key") == isSame,
                next.request.headers.contains("Authorization") == isSame
            else { return .wrong("\(next.request.url.absoluteString): \(next.request.headers)") }
            return .taken
        }
    }

    @Test func `the response head parser accepts or refuses any bytes`() {
        let seeds = [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\n",
            "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 204 No\r\n\r\n",
            "HTTP/1.0 404\r\nA: b\r\n c\r\n\r\n", "HTTP/2 200 \r\ncontent-encoding: gzip\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nT: u\r\n\r\n",
        ]
        let words = [
            "Content-Length: ", "Transfer-Encoding: chunked\r\n", "HTTP/1.1 100 C\r\n\r\n",
            "\r\n", "\n", "\0", ":", " ", "\t", "9223372036854775808", "+1", "\u{E9}", "HTTP/2 ",
        ]
        fuzz(seeds, words: words) { input in
            let first = Self.read(input)
            guard first.complaint == nil else { return .wrong(first.complaint ?? "") }
            let second = Self.read(input)
            guard first.events == second.events else { return .wrong("another answer") }
            return first.isFinal ? .taken : .refused
        }
    }

    fileprivate struct Reading {
        var events: [String] = []
        var isFinal = false
        var complaint: String?
    }

    /// Reads lines as libcurl passes them.
    private static func read(_ input: [UInt8]) -> Reading {
        let limit = 2_000
        var head = ResponseGuard(byteLimit: limit, allowsHTTP2: input.count % 2 == 0)
        var reading = Reading()
        var rest = input[...]
        while !rest.isEmpty {
            let end = rest.firstIndex(of: 0x0A).map { $0 + 1 } ?? rest.endIndex
            let line = rest[..<end]
            rest = rest[end...]
            do {
                guard let event = try line.withUnsafeBytes({ try head.receive($0) }) else {
                    continue
                }
                switch event {
                case .informational(let head): reading.note(head, 100..<200)
                case .final(let head):
                    reading.isFinal = true
                    reading.note(head, 200..<1_000)
                }
            } catch {
                reading.events.append("\(error)")
                return reading
            }
            if head.bytes > limit { reading.complaint = "\(head.bytes) bytes" }
        }
        if case .length(let length) = head.framing, length < 0 { reading.complaint = "\(length)" }
        return reading
    }
}

extension FuzzTests.Reading {
    fileprivate mutating func note(_ head: ResponseHead, _ statuses: Range<Int>) {
        events.append("\(head.status.rawValue) \(head.headers.fields.map { $0.name + $0.value })")
        if !statuses.contains(head.status.rawValue) { complaint = "\(head.status.rawValue)" }
        for field in head.headers.fields {
            if field.name.isEmpty || !field.name.utf8.allSatisfy(\.isTokenCharacter) {
                complaint = "name \(field.name)"
            }
            if field.value.utf8.contains(where: { $0 == 0 || $0 == 10 || $0 == 13 }) {
                complaint = "value \(field.value)"
            }
        }
    }
}
