// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import Testing

/// The cases of http-tests/cache-tests about what may be stored and reused, `Vary`, and stale
/// responses.
@Suite struct CacheReuseCasesTests {
    private static let day = ("Expires", "now+86400")
    private static let tag = ("ETag", "\"abcd\"")

    private static let responses: [CacheCase] = [
        .pair("cc-resp-private-private", ("Cache-Control", "private, max-age=3600"), then: .reused),
        .pair("cc-resp-no-store", ("Cache-Control", "no-store"), then: .forwarded),
        .pair("cc-resp-no-store-case-insensitive", ("Cache-Control", "No-StOrE"), then: .forwarded),
        .pair(
            "cc-resp-no-store-fresh", ("Cache-Control", "max-age=10000, no-store"), day,
            then: .forwarded),
        .pair(
            "cc-resp-no-cache", ("Cache-Control", "max-age=10000, no-cache"), day, then: .forwarded),
        .pair(
            "cc-resp-no-cache-case-insensitive", ("Cache-Control", "max-age=10000, No-CaChE"), day,
            then: .forwarded),
        .pair("cc-resp-no-cache-revalidate", ("Cache-Control", "no-cache"), tag, then: .validated),
        .pair(
            "cc-resp-no-cache-revalidate-fresh", ("Cache-Control", "max-age=10000, no-cache"), day,
            tag, then: .validated),
        .pair(
            "cc-resp-must-revalidate-fresh", ("Cache-Control", "max-age=10000, must-revalidate"),
            tag, then: .reused),
        .pair(
            "cc-resp-must-revalidate-stale", ("Cache-Control", "max-age=2, must-revalidate"), tag,
            then: .validated),
        .pair(
            "must-understand beside no-store",
            ("Cache-Control", "no-store, must-understand, max-age=9"), then: .reused),
        .pair(
            "must-understand with a status that is not known",
            ("Cache-Control", "must-understand, max-age=9"), status: 299, then: .forwarded),
        .pair(
            "other-set-cookie", ("Cache-Control", "max-age=3600"), ("Set-Cookie", "a=b"),
            then: .reused),
        .pair(
            "a part is not stored", ("Cache-Control", "max-age=3600"),
            ("Content-Range", "bytes 0-1/2"), status: 206, then: .forwarded),
    ]

    @Test(arguments: responses)
    func `a response is stored and reused as its Cache-Control says`(example: CacheCase) async {
        #expect(await example.run() == [])
    }

    @Test func `fields that no-cache names are left out of a reuse`() async {
        let answer = [
            ("Cache-Control", "no-cache=\"a, B\""), ("Cache-Control", "max-age=3600"), ("a", "1"),
            ("b", "2"), ("c", "3"),
        ]
        let example = CacheCase(
            id: "headers-omit-headers-listed-in-Cache-Control-no-cache",
            steps: [
                .init(answer: answer, expectedFields: [("a", "1")], pause: .seconds(3)),
                .init(expected: .reused, expectedFields: [("a", nil), ("b", nil), ("c", "3")]),
            ])
        #expect(await example.run() == [])
    }

    @Test func `fields that no-cache names are there once they are validated`() async {
        let answer = [
            ("Cache-Control", "max-age=1, no-cache=\"a\""), Self.tag, ("a", "1"), ("c", "3"),
        ]
        let example = CacheCase(
            id: "no-cache-field-validated",
            steps: [
                .init(answer: answer, pause: .seconds(3)),
                .init(
                    answer: [Self.tag, ("a", "2")], expected: .validated,
                    expectedFields: [("a", "2"), ("c", "3")]),
                .init(expected: .reused, expectedFields: [("a", nil), ("c", "3")]),
            ])
        #expect(await example.run() == [])
    }

    @Test func `fields of the connection are not stored`() async {
        let answer = [
            ("Cache-Control", "max-age=3600"), ("Connection", "a, b"), ("a", "1"), ("b", "2"),
            ("Proxy-Authenticate", "Basic"), ("Upgrade", "h2c"), ("c", "3"),
        ]
        let example = CacheCase(
            id: "headers-omit-headers-listed-in-Connection",
            steps: [
                .init(answer: answer, pause: .seconds(3)),
                .init(
                    expected: .reused,
                    expectedFields: [
                        ("Connection", nil), ("a", nil), ("b", nil), ("Proxy-Authenticate", nil),
                        ("Upgrade", nil), ("c", "3"),
                    ]),
            ])
        #expect(await example.run() == [])
    }

    @Test func `a reuse says how old the response is, and keeps its date`() async {
        for (fields, age) in [
            ([("Expires", "now+86400"), ("Date", "now+0")], "3"),
            ([("Expires", "now+86400"), ("Date", "now+0"), ("Age", "30")], "33"),
            ([("Cache-Control", "max-age=600"), ("Date", "now+0"), ("Age", "30")], "33"),
        ] {
            let example = CacheCase(
                id: "other-age-gen",
                steps: [
                    .init(answer: fields, pause: .seconds(3)),
                    .init(
                        expected: .reused,
                        expectedFields: [
                            ("Age", age), ("Date", HTTPDateText.text(CacheHistory.epoch)),
                        ]),
                ])
            #expect(await example.run() == [])
        }
    }

    /// What a request asks for of a response of three seconds that is fresh for an hour.
    @Test(
        arguments: [
            ("max-age=0", .forwarded), ("max-age=1", .forwarded), ("max-age=3", .reused),
            ("max-age=600", .reused), ("min-fresh=2000", .reused), ("min-fresh=3600", .forwarded),
            ("no-cache", .forwarded), ("no-store", .forwarded), ("max-age=nonsense", .forwarded),
            ("only-if-cached", .reused), ("", .reused),
        ] as [(String, CacheHistory.Outcome.Way)])
    func `the directives of a request are honoured`(
        directive: String, expected: CacheHistory.Outcome.Way
    ) async {
        let example = CacheCase(
            id: "ccreq",
            steps: [
                .init(answer: [("Cache-Control", "max-age=3600")], pause: .seconds(3)),
                .init(fields: [("Cache-Control", directive)], expected: expected),
            ])
        #expect(await example.run() == [])
    }

    @Test func `a request may take a stale response`() async {
        for (value, expected): (String, CacheHistory.Outcome.Way) in [
            ("max-stale", .reused), ("max-stale=1000", .reused), ("max-stale=1", .forwarded),
            ("max-stale=2", .reused), ("only-if-cached", .unavailable),
            ("only-if-cached, max-stale", .reused), ("max-stale=x", .forwarded),
        ] {
            let example = CacheCase(
                id: value,
                steps: [
                    .init(answer: [("Cache-Control", "max-age=1")], pause: .seconds(3)),
                    .init(fields: [("Cache-Control", value)], expected: expected),
                ])
            #expect(await example.run() == [])
        }
    }

    @Test func `a request is refused that only a stored response may answer, and none does`() async
    {
        let example = CacheCase(
            id: "ccreq-oic",
            steps: [.init(fields: [("Cache-Control", "only-if-cached")], expected: .unavailable)])
        #expect(await example.run() == [])
    }

    @Test func `a request that says no-cache is validated`() async {
        let example = CacheCase(
            id: "ccreq-no-cache-etag",
            steps: [
                .init(answer: [("Cache-Control", "max-age=3600"), Self.tag]),
                .init(
                    fields: [("Cache-Control", "no-cache")],
                    answer: [("Cache-Control", "max-age=3600"), Self.tag], expected: .validated),
                .init(
                    fields: [("Pragma", "no-cache")],
                    answer: [("Cache-Control", "max-age=3600"), Self.tag], expected: .validated),
            ])
        #expect(await example.run() == [])
    }

    /// The fields of the first request, its `Vary`, the fields of the second one, and whether it
    /// is answered from the cache.
    struct Variant: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var first: [(String, String)]
        var vary: [String]
        var second: [(String, String)]
        var matches: Bool

        init(
            _ id: String, _ first: [(String, String)], vary: String...,
            then second: [(String, String)],
            _ matches: Bool
        ) {
            (testDescription, self.first, self.vary, self.second, self.matches) =
                (id, first, vary, second, matches)
        }
    }

    private static let three = [("Foo", "1"), ("Bar", "abc"), ("Baz", "789")]

    private static let variants = [
        Variant("vary-match", [("Foo", "1")], vary: "Foo", then: [("Foo", "1")], true),
        Variant("vary-no-match", [("Foo", "1")], vary: "Foo", then: [("Foo", "2")], false),
        Variant("vary-omit-stored", [], vary: "Foo", then: [("Foo", "1")], false),
        Variant("vary-omit", [("Foo", "1")], vary: "Foo", then: [], false),
        Variant(
            "vary-cache-key", [("Foo", "1"), ("Other", "2")], vary: "Foo",
            then: [("Foo", "1"), ("Other", "3")], true),
        Variant(
            "vary-2-match", Array(three[...1]), vary: "Foo, Bar", then: Array(three[...1]), true),
        Variant(
            "vary-2-no-match", Array(three[...1]), vary: "Foo, Bar",
            then: [("Foo", "2"), ("Bar", "abc")], false),
        Variant("vary-2-match-omit", [("Foo", "1")], vary: "Foo, Bar", then: [], false),
        Variant("vary-3-match", three, vary: "foo, bar", "BAZ", then: three, true),
        Variant(
            "vary-3-no-match", three, vary: "Foo, Bar, Baz", then: [("Foo", "2")] + three[1...],
            false),
        Variant(
            "vary-3-order", [three[0], ("Bar", "abc4"), three[2]], vary: "Foo, Bar, Baz",
            then: three.reversed(), false),
        Variant(
            "vary-3-omit", [three[0], three[2]], vary: "Foo, Bar, Baz", then: [three[0], three[2]],
            true),
        Variant("vary-star", three, vary: "*", then: three, false),
        Variant("vary-syntax-star-star", three, vary: "*, *", then: three, false),
        Variant("vary-syntax-empty-star-lines", three, vary: "", "*", then: three, false),
        Variant("vary-syntax-foo-star", three, vary: "Foo, *", then: three, false),
        Variant(
            "vary-normalise-space", [("Foo", "1,2")], vary: "Foo", then: [("Foo", " 1, 2 ")], true),
        Variant(
            "vary-normalise-combine", [("Foo", "1, 2")], vary: "Foo",
            then: [("Foo", "1"), ("Foo", "2")], true),
        Variant(
            "vary-normalise-lang-order", [("Accept-Language", "en, de")], vary: "Accept-Language",
            then: [("Accept-Language", "de, en")], true),
        Variant(
            "vary-normalise-lang-case", [("Accept-Language", "en, de")], vary: "Accept-Language",
            then: [("Accept-Language", "eN, De")], true),
        Variant(
            "vary-normalise-lang-space", [("Accept-Language", "en; q=0.5,de")],
            vary: "Accept-Language", then: [("Accept-Language", " en;q=0.5 , de")], true),
        Variant(
            "a quoted comma separates nothing", [("Foo", "\"a, b\"")], vary: "Foo",
            then: [("Foo", "\"a,b\"")], false),
    ]

    @Test(arguments: variants)
    func `a response is chosen by the fields that its Vary names`(variant: Variant) async {
        let answer =
            [("Expires", "now+5000"), ("Date", "now+0")] + variant.vary.map { ("Vary", $0) }
        let example = CacheCase(
            id: variant.testDescription,
            steps: [
                .init(fields: variant.first, answer: answer),
                .init(
                    fields: variant.second, answer: answer,
                    expected: variant.matches ? .reused : .forwarded),
            ])
        #expect(await example.run() == [])
    }

    @Test func `variants of a URL are stored side by side`() async {
        let answer = [("Expires", "now+5000"), ("Date", "now+0"), ("Vary", "Foo")]
        let example = CacheCase(
            id: "vary-invalidate",
            steps: [
                .init(fields: [("Foo", "1")], answer: answer + [("n", "1")]),
                .init(fields: [("Foo", "2")], answer: answer + [("n", "2")], expected: .forwarded),
                .init(fields: [("Foo", "1")], expected: .reused, expectedFields: [("n", "1")]),
                .init(fields: [("Foo", "2")], expected: .reused, expectedFields: [("n", "2")]),
            ])
        #expect(await example.run() == [])
    }
}
