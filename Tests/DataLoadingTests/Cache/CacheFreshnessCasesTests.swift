// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import Testing

/// The cases of http-tests/cache-tests about freshness, `Age` and the parsing of both.
@Suite struct CacheFreshnessCasesTests {
    private static let hour = "max-age=3600"

    private static let freshness: [CacheCase] = [
        .pair("freshness-none", then: .forwarded),
        .pair("freshness-max-age", ("Cache-Control", hour), then: .reused),
        .pair("freshness-max-age-stale", ("Cache-Control", "max-age=2"), then: .forwarded),
        .pair("freshness-max-age-0", ("Cache-Control", "max-age=0"), then: .forwarded),
        .pair(
            "freshness-max-age-max-minus-1", ("Cache-Control", "max-age=2147483647"), then: .reused),
        .pair("freshness-max-age-max", ("Cache-Control", "max-age=2147483648"), then: .reused),
        .pair(
            "freshness-max-age-max-plus-1", ("Cache-Control", "max-age=2147483649"), then: .reused),
        .pair(
            "freshness-max-age-max-plus", ("Cache-Control", "max-age=99999999999"), then: .reused),
        .pair("freshness-max-age-age", ("Cache-Control", hour), ("Age", "7200"), then: .forwarded),
        .pair(
            "freshness-max-age-date", ("Cache-Control", hour), ("Date", "now-7200"),
            then: .forwarded),
        .pair(
            "freshness-max-age-expires", ("Cache-Control", hour), ("Expires", "now-7200"),
            then: .reused),
        .pair(
            "freshness-max-age-expires-invalid", ("Cache-Control", hour), ("Expires", "0"),
            then: .reused),
        .pair(
            "freshness-max-age-0-expires", ("Cache-Control", "max-age=0"), ("Expires", "now+7200"),
            then: .forwarded),
        .pair("freshness-max-age-extension", ("Cache-Control", "foobar, " + hour), then: .reused),
        .pair(
            "freshness-max-age-case-insenstive", ("Cache-Control", "MaX-aGe=3600"), then: .reused),
        .pair("freshness-max-age-negative", ("Cache-Control", "max-age=-3600"), then: .forwarded),
        .pair(
            "freshness-max-age-s-maxage-private", ("Cache-Control", "s-maxage=3600, max-age=1"),
            then: .forwarded),
        .pair(
            "freshness-max-age-s-maxage-private-multiple", ("Cache-Control", "s-maxage=3600"),
            ("Cache-Control", "max-age=1"), then: .forwarded),
        .pair("freshness-s-maxage-shared", ("Cache-Control", "s-maxage=3600"), then: .forwarded),
        .pair(
            "freshness-max-age-s-maxage-shared-longer", ("Cache-Control", hour + ", s-maxage=1"),
            then: .reused),
        .pair(
            "freshness-max-age-s-maxage-shared-longer-reversed",
            ("Cache-Control", "s-maxage=1, " + hour), then: .reused),
        .pair(
            "freshness-max-age-s-maxage-shared-longer-multiple", ("Cache-Control", hour),
            ("Cache-Control", "s-maxage=1"), then: .reused),
        .pair(
            "freshness-max-age-s-maxage-shared-shorter",
            ("Cache-Control", "max-age=1, s-maxage=3600"), then: .forwarded),
        .pair(
            "freshness-max-age-s-maxage-shared-shorter-expires",
            ("Cache-Control", "max-age=0, s-maxage=3600"),
            ("Expires", "now-10"), then: .forwarded),
    ]

    private static let parsing: [CacheCase] = [
        .pair(
            "two-fresh-stale-sameline", ("Cache-Control", "max-age=1800, max-age=1"),
            then: .forwarded),
        .pair(
            "two-fresh-stale-sepline", ("Cache-Control", "max-age=1800"),
            ("Cache-Control", "max-age=1"),
            then: .forwarded),
        .pair(
            "two-stale-fresh-sameline", ("Cache-Control", "max-age=1, max-age=1800"),
            then: .forwarded),
        .pair(
            "ignore-quoted", ("Cache-Control", "extension=\"max-age=3600\", max-age=1"),
            then: .forwarded),
        .pair(
            "ignore-quoted-rev", ("Cache-Control", "max-age=1, extension=\"max-age=3600\""),
            then: .forwarded),
        .pair("quoted", ("Cache-Control", "max-age=\"3600\""), then: .reused),
        .pair(
            "quoted pair", ("Cache-Control", "a=\"b\\\", max-age=1\", max-age=3600"), then: .reused),
        .pair(
            "quotes that do not end hide nothing",
            ("Cache-Control", "max-age=3600, a=\"b, no-store"), then: .forwarded),
        .pair("space-before-equals", ("Cache-Control", "max-age =3600"), then: .forwarded),
        .pair("space-after-equals", ("Cache-Control", "max-age= 3600"), then: .forwarded),
        .pair("leading-zero", ("Cache-Control", "max-age=003600"), then: .reused),
        .pair(
            "many leading zeros",
            ("Cache-Control", "max-age=" + String(repeating: "0", count: 900) + "9"), then: .reused),
        .pair("single-quoted", ("Cache-Control", "max-age='3600'"), then: .forwarded),
        .pair("decimal-zero", ("Cache-Control", "max-age=3600.0"), then: .forwarded),
        .pair("decimal-five", ("Cache-Control", "max-age=3600.5"), then: .forwarded),
        .pair("a100", ("Cache-Control", "max-age=a3600"), then: .forwarded),
        .pair("100a", ("Cache-Control", "max-age=3600a"), then: .forwarded),
        .pair("no number", ("Cache-Control", "max-age="), then: .forwarded),
        .pair("no value", ("Cache-Control", "max-age"), then: .forwarded),
        .pair("empty members", ("Cache-Control", ",, ,max-age=3600,,"), then: .reused),
    ]

    private static let ages: [CacheCase] = [
        ("age-parse-nonnumeric", ["abc"], true), ("age-parse-negative", ["-7200"], true),
        ("age-parse-float", ["7200.0"], true), ("age-parse-large-minus-one", ["2147483647"], false),
        ("age-parse-large", ["2147483648"], false), ("age-parse-larger", ["2147483649"], false),
        ("age-parse-suffix", ["7200, 0"], false), ("age-parse-prefix", ["0, 7200"], true),
        ("age-parse-suffix-twoline", ["7200", "0"], false),
        ("age-parse-prefix-twoline", ["0", "7200"], true), ("age-parse-dup-0", ["0, 0"], true),
        ("age-parse-dup-0-twoline", ["0", "0"], true),
        ("age-parse-dup-old", ["3000", "3000"], true),
        ("age-parse-parameter", ["7200;foo=bar"], true), ("empty", [""], true),
    ].map { id, values, isFresh in
        let step = CacheCase.Step(
            answer: [("Cache-Control", hour)] + values.map { ("Age", $0) }, pause: .seconds(3))
        var second = step
        second.expected = isFresh ? .reused : .forwarded
        return CacheCase(id: id, steps: [step, second])
    }

    private static let expires: [CacheCase] = [
        .pair(
            "freshness-expires-future", ("Expires", "now+2592000"), ("Date", "now+0"), then: .reused
        ),
        .pair(
            "freshness-expires-past", ("Expires", "now-2592000"), ("Date", "now+0"),
            then: .forwarded),
        .pair(
            "freshness-expires-present", ("Expires", "now+0"), ("Date", "now+0"), then: .forwarded),
        .pair(
            "freshness-expires-old-date", ("Expires", "now+10"), ("Date", "now+20"),
            then: .forwarded),
        .pair("freshness-expires-invalid", ("Expires", "0"), then: .forwarded),
        .pair(
            "freshness-expires-invalid-date", ("Expires", "now+10"), ("Date", "foo"), then: .reused),
        .pair(
            "freshness-expires-age-slow-date", ("Date", "now-10"), ("Expires", "now+10"),
            ("Age", "25"),
            then: .forwarded),
        .pair(
            "freshness-expires-age-fast-date", ("Date", "now+10"), ("Expires", "now+20"),
            ("Age", "15"),
            then: .forwarded),
        .pair("two values", ("Expires", "now+100"), ("Expires", "now+200"), then: .forwarded),
        .pair("asctime in the future", ("Expires", "Thu Aug 18 02:01:18 2050"), then: .reused),
    ]

    @Test(arguments: freshness + parsing)
    func `a response is fresh as its Cache-Control says`(example: CacheCase) async {
        #expect(await example.run() == [])
    }

    @Test(arguments: ages) func `a response is as old as its Age says`(example: CacheCase) async {
        #expect(await example.run() == [])
    }

    @Test(arguments: expires) func `a response is fresh as its Expires says`(example: CacheCase)
        async
    {
        #expect(await example.run() == [])
    }

    @Test(arguments: [
        (200, true), (201, false), (202, false), (203, true), (204, true), (403, false),
        (404, true),
        (405, true), (410, true), (414, true), (501, true), (502, false), (503, false),
        (504, false),
        (599, false),
    ])
    func `some statuses are fresh for a tenth of the time since the last modification`(
        status: Int, isReused: Bool
    ) async {
        let example = CacheCase.pair(
            "heuristic-\(status)", ("Last-Modified", "now-86400"), ("Date", "now+0"),
            status: HTTPStatus(rawValue: status), then: isReused ? .reused : .forwarded)
        #expect(await example.run() == [])
    }

    @Test func `a public response of any status is fresh by the same rule`() async {
        let example = CacheCase.pair(
            "heuristic-599", ("Last-Modified", "now-86400"), ("Date", "now+0"),
            ("Cache-Control", "public"), status: 599, then: .reused)
        #expect(await example.run() == [])
    }

    @Test(arguments: [
        200, 203, 204, 299, 301, 302, 303, 307, 308, 400, 404, 410, 499, 500, 502, 503, 504, 599,
    ])
    func `every final status is reused while it says that it is fresh`(status: Int) async {
        let status = HTTPStatus(rawValue: status)
        let fresh = CacheCase.pair(
            "status-\(status)-fresh", ("Cache-Control", Self.hour), status: status, then: .reused)
        let stale = CacheCase.pair(
            "status-\(status)-stale", ("Cache-Control", "max-age=1"), status: status,
            then: .forwarded)
        #expect(await fresh.run() + stale.run() == [])
    }
}
