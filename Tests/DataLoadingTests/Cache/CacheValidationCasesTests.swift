// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingCache
import DataLoadingTransport
import Testing

/// The cases of http-tests/cache-tests about stale responses, validation and invalidation.
@Suite struct CacheValidationCasesTests {
    private typealias Step = CacheCase.Step
    private static let tag = ("ETag", "\"abcdef\"")

    /// What a response says that is three seconds old and fresh for one, and what becomes of the
    /// next request when the origin answers 503, or breaks the connection.
    private static let stale: [(String, onError: CacheHistory.Outcome.Way)] = [
        ("max-age=1", .forwarded), ("max-age=1, stale-if-error=60", .usedOnError),
        ("max-age=1, stale-if-error=1", .forwarded), ("max-age=1, stale-if-error", .forwarded),
        ("max-age=1, stale-if-error=60, must-revalidate", .forwarded),
        ("max-age=1, stale-if-error=60, no-cache", .forwarded),
        ("max-age=9, stale-if-error=60, no-cache", .forwarded),
    ]

    @Test(arguments: stale)
    func `a stale response is used in place of an error while it says so`(
        directives: String, onError: CacheHistory.Outcome.Way
    ) async {
        let first = Step(answer: [("Cache-Control", directives)], pause: .seconds(3))
        let unavailable = Step(status: 503, expected: onError)
        let broken = Step(
            breaksConnection: true, expected: onError == .usedOnError ? .usedOnError : .failed)
        #expect(await CacheCase(id: "stale-sie-503", steps: [first, unavailable]).run() == [])
        #expect(await CacheCase(id: "stale-sie-close", steps: [first, broken]).run() == [])
    }

    @Test func `a caller may take a stale response in place of an error`() async {
        let example = CacheCase(
            id: "stale-if-error of a request",
            steps: [
                Step(answer: [("Cache-Control", "max-age=1")], pause: .seconds(3)),
                Step(
                    fields: [("Cache-Control", "stale-if-error=9")], status: 502,
                    expected: .usedOnError),
                Step(
                    fields: [("Cache-Control", "stale-if-error=1")], status: 404,
                    expected: .forwarded),
            ])
        #expect(await example.run() == [])
    }

    @Test func `a stale response is used while it is validated, within its window`() async {
        let example = CacheCase(
            id: "stale-while-revalidate",
            steps: [
                Step(
                    answer: [
                        ("Cache-Control", "max-age=1, stale-while-revalidate=4"), ("n", "1"),
                    ], pause: .seconds(3)),
                Step(
                    answer: [
                        ("Cache-Control", "max-age=1, stale-while-revalidate=4"), ("n", "2"),
                    ], expected: .reused, expectedFields: [("n", "1")]),
                Step(expected: .reused, expectedFields: [("n", "2")], pause: .seconds(6)),
                Step(answer: [("n", "3")], expected: .forwarded),
            ])
        #expect(await example.run() == [])
    }

    @Test func `a response that must be validated is not used meanwhile`() async {
        for directives in [
            "max-age=1, stale-while-revalidate=60, must-revalidate",
            "max-age=1, stale-while-revalidate=60, no-cache",
        ] {
            let example = CacheCase(
                id: directives,
                steps: [
                    Step(answer: [("Cache-Control", directives)], pause: .seconds(3)),
                    Step(expected: .forwarded),
                ])
            #expect(await example.run() == [])
        }
    }

    @Test(arguments: [
        "Test-Header", "X-Test-Header", "Content-Foo", "X-Content-Foo", "Content-Type",
        "Content-Location", "Content-MD5", "Content-Security-Policy", "Set-Cookie", "Expires",
    ])
    func `a 304 replaces a stored field, at once and for later reuses`(name: String) async {
        for validator in [Self.tag, ("Last-Modified", "now-86400")] {
            let second = validator.0 == "ETag" ? validator : ("Last-Modified", "now-86403")
            let example = CacheCase(
                id: "304-update-\(name)",
                steps: [
                    Step(
                        answer: [
                            ("Cache-Control", "max-age=1"), validator, (name, "a"), ("kept", "1"),
                        ],
                        pause: .seconds(3)),
                    Step(
                        answer: [("Cache-Control", "max-age=3600"), second, (name, "b")],
                        expected: .validated, expectedStatus: .ok,
                        expectedFields: [(name, "b"), ("kept", "1"), ("Age", "0")],
                        pause: .seconds(3)),
                    Step(
                        expected: .reused,
                        expectedFields: [(name, "b"), ("kept", "1"), ("Age", "3")]),
                ])
            #expect(await example.run() == [])
        }
    }

    @Test(arguments: ["Content-Length", "Content-Encoding", "Content-Range"])
    func `a 304 changes no field that describes the stored body`(name: String) async {
        let example = CacheCase(
            id: "304-etag-update-response-\(name)",
            steps: [
                Step(
                    answer: [("Cache-Control", "max-age=1"), Self.tag, (name, "36")],
                    pause: .seconds(3)),
                Step(
                    answer: [("Cache-Control", "max-age=3600"), Self.tag, (name, "37")],
                    expected: .validated, expectedFields: [(name, "36")]),
                Step(expected: .reused, expectedFields: [(name, "36")]),
            ])
        #expect(await example.run() == [])
    }

    @Test func `a 304 of another response confirms nothing`() throws {
        let times = ResponseTimes(
            requested: CacheHistory().now.monotonic, received: CacheHistory().now)
        func stored(_ fields: HTTPHeaders) throws -> StoredResponse {
            try #require(
                StoredResponse(
                    ResponseHead(status: .ok, headers: fields), request: [:], times: times,
                    hasQuery: false))
        }
        for (old, new, isConfirmed): (HTTPHeaders, HTTPHeaders, Bool) in [
            (["ETag": "\"a\""], ["ETag": "\"a\""], true),
            (["ETag": "\"a\""], ["ETag": "\"b\""], false),
            (["ETag": "\"a\""], [:], true),
            (["ETag": "W/\"a\""], ["ETag": "W/\"a\""], true),
            (["ETag": "W/\"a\""], ["ETag": "W/\"b\""], false),
            (["Last-Modified": "x"], ["ETag": "\"b\""], false),
            (["Last-Modified": "x"], ["Last-Modified": "y"], false),
            (["Last-Modified": "x"], ["Last-Modified": "x"], true),
        ] {
            let answer = ResponseHead(status: .notModified, headers: new)
            let confirmed = try stored(old).confirmed(
                by: answer, to: [:], times: times, hasQuery: false)
            #expect(
                (confirmed != nil) == isConfirmed, "\(old["ETag"] ?? "-") \(new["ETag"] ?? "-")")
        }
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "M-SEARCH", "PATCH", "LINK"])
    func `an unsafe request that succeeds invalidates what is stored`(method: String) async {
        for (status, expected): (HTTPStatus, CacheHistory.Outcome.Way) in [
            (200, .forwarded), (204, .forwarded), (303, .forwarded), (500, .reused), (404, .reused),
        ] {
            let example = CacheCase(
                id: "invalidate-\(method)",
                steps: [
                    Step(answer: [("Cache-Control", "max-age=3600")], pause: .seconds(3)),
                    Step(
                        method: HTTPMethod(rawValue: method), status: status, expected: .forwarded),
                    Step(expected: expected),
                ])
            #expect(await example.run() == [])
        }
    }

    @Test func `a request of a safe method invalidates nothing`() async {
        for method: HTTPMethod in [.head, .options, .trace] {
            let example = CacheCase(
                id: "safe",
                steps: [
                    Step(answer: [("Cache-Control", "max-age=3600")]),
                    Step(method: method, fields: [("Cache-Control", "no-cache")]),
                    Step(expected: .reused),
                ])
            #expect(await example.run() == [])
        }
    }

    @Test func `an unsafe request invalidates what its answer names, within the origin`() throws {
        let target = try RequestTarget(text: "http://origin.test/a")
        let head = ResponseHead(
            status: 201,
            headers: HTTPHeaders([
                .init(name: "Location", value: "http://origin.test/b"),
                .init(name: "Content-Location", value: "http://origin.test/c"),
                .init(name: "Location", value: "http://other.test/d"),
                .init(name: "Location", value: "none"),
            ]))
        let urls = Invalidation.urls(after: head, to: .post, target) {
            try? RequestTarget(text: $0)
        }
        #expect(urls.map(\.pathAndQuery) == ["/a", "/b", "/c"])
        #expect(Invalidation.urls(after: head, to: .get, target) { _ in nil } == [])
    }

    @Test func `a HEAD is answered from a stored GET`() async {
        let example = CacheCase(
            id: "head",
            steps: [
                Step(answer: [("Cache-Control", "max-age=3600"), ("n", "1")]),
                Step(method: .head, expected: .reused, expectedFields: [("n", "1")]),
            ])
        #expect(await example.run() == [])
    }

    /// The fields of the stored response, those of the caller's condition, and whether he is
    /// answered 304.
    private static let conditions: [([(String, String)], [(String, String)], Bool)] = [
        ([tag], [("If-None-Match", "\"abcdef\"")], true),
        ([tag], [("If-None-Match", "W/\"abcdef\"")], true),
        ([("ETag", "W/\"abcdef\"")], [("If-None-Match", "W/\"abcdef\"")], true),
        ([tag], [("If-None-Match", "\"1234\", \"abcdef\", \"5678\"")], true),
        ([tag], [("If-None-Match", "\"1234\""), ("If-None-Match", "\"abcdef\"")], true),
        ([tag], [("If-None-Match", "\"1234\"")], false),
        ([tag], [("If-None-Match", "*")], true),
        ([], [("If-None-Match", "\"abcdef\"")], false),
        ([tag], [("If-None-Match", "abcdef")], false),
        (
            [tag, ("Last-Modified", "now-5000")],
            [tag].map { ("If-None-Match", $0.1) } + [("If-Modified-Since", "now-9000")], true
        ),
        (
            [tag, ("Last-Modified", "now-5000")],
            [("If-None-Match", "\"x\""), ("If-Modified-Since", "now-1")], false
        ),
        ([("Last-Modified", "now-3000")], [("If-Modified-Since", "now-3003")], true),
        ([("Last-Modified", "now-3000")], [("If-Modified-Since", "now-2000")], true),
        ([("Last-Modified", "now-3000")], [("If-Modified-Since", "now-4000")], false),
        ([("Date", "now-10")], [("If-Modified-Since", "now-3000")], false),
        ([("Date", "now-10")], [("If-Modified-Since", "now-9")], true),
        ([("Last-Modified", "now-3000")], [("If-Modified-Since", "yesterday")], false),
    ]

    @Test(arguments: conditions.indices)
    func `a caller's condition about a fresh response is answered by 304`(index: Int) async {
        let (stored, condition, isNotModified) = Self.conditions[index]
        let example = CacheCase(
            id: "conditional \(index)",
            steps: [
                Step(answer: [("Cache-Control", "max-age=100000")] + stored, pause: .seconds(3)),
                Step(
                    fields: condition, expected: isNotModified ? .notModified : .reused,
                    expectedStatus: isNotModified ? .notModified : .ok,
                    expectedFields: stored.filter { $0.0 == "ETag" }),
            ])
        #expect(await example.run() == [])
    }

    @Test func `a caller's condition about a stale response is the origin's to judge`() async {
        let answer = [("Cache-Control", "max-age=2"), Self.tag]
        let example = CacheCase(
            id: "conditional-lm-stale",
            steps: [
                Step(answer: answer, pause: .seconds(3)),
                Step(
                    fields: [("If-None-Match", "\"abcdef\"")], status: 304, answer: answer,
                    expected: .forwarded, expectedStatus: .notModified),
            ])
        #expect(await example.run() == [])
    }

    @Test(arguments: ["If-Match", "If-Unmodified-Since", "If-Range", "Range"])
    func `a request that only the origin can answer goes there`(name: String) async {
        let example = CacheCase(
            id: name,
            steps: [
                Step(answer: [("Cache-Control", "max-age=3600"), Self.tag], pause: .seconds(3)),
                Step(fields: [(name, "\"abcdef\"")], expected: .forwarded),
                Step(
                    fields: [(name, "x"), ("Cache-Control", "only-if-cached")],
                    expected: .unavailable),
            ])
        #expect(await example.run() == [])
    }
}
