// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingCache
import DataLoadingSupport
import DataLoadingTransport
import Testing

/// What a request's policy asks for, and what clocks say.
@Suite struct CacheDecisionTests {
    private static let begin = CacheMoment(
        wall: CacheHistory.epoch * 1_000, monotonic: Instant(nanoseconds: 0))

    private func stored(_ fields: HTTPHeaders, receivedAt: CacheMoment = begin) throws
        -> StoredResponse
    {
        try #require(
            StoredResponse(
                ResponseHead(status: .ok, headers: fields), request: [:],
                times: ResponseTimes(requested: receivedAt.monotonic, received: receivedAt),
                hasQuery: false))
    }

    private func moment(_ seconds: Int64) -> CacheMoment {
        CacheMoment(
            wall: (CacheHistory.epoch + seconds) * 1_000,
            monotonic: Instant(nanoseconds: seconds * 1_000_000_000))
    }

    private func request(
        _ policy: CachePolicy = .useProtocolPolicy, _ headers: HTTPHeaders = [:],
        method: HTTPMethod = .get
    ) -> CacheRequest {
        CacheRequest(method: method, headers: headers, policy: policy)
    }

    @Test func `a reload goes to the origin, and what it brings is stored`() throws {
        let fresh = try stored(["Cache-Control": "max-age=9"])
        let reload = request(.reload)
        #expect(
            CacheDecision.with(fresh, reload, at: moment(1))
                == .forward(.request, mayUseOnError: false))
        #expect(reload.mayStore)
    }

    @Test func `a bypass neither reads nor stores`() throws {
        let fresh = try stored(["Cache-Control": "max-age=9"])
        let bypass = request(.bypass)
        #expect(
            CacheDecision.with(fresh, bypass, at: moment(1))
                == .forward(.bypass, mayUseOnError: false))
        #expect(!bypass.mayStore)
    }

    @Test func `only what is stored answers, however old, unless it forbids that itself`() throws {
        let year = moment(31_536_000)
        let only = request(.cacheOnly)
        for (directives, expected): (String, CacheDecision) in [
            ("max-age=9", .reuse(.withoutOrigin)), ("max-age=99999999", .reuse(.fresh)),
            ("max-age=9, must-revalidate", .unavailable), ("max-age=9, no-cache", .unavailable),
            ("", .reuse(.withoutOrigin)),
        ] {
            let decision = CacheDecision.with(
                try stored(["Cache-Control": directives]), only, at: year)
            #expect(decision == expected, "\(directives)")
        }
        #expect(CacheDecision.withoutEntry(only, hasOtherVariants: true) == .unavailable)
    }

    @Test func `a request for which nothing is stored says why it goes on`() {
        for (request, expected): (CacheRequest, CacheStatus.Forward) in [
            (request(), .uriMiss), (request(.bypass), .bypass), (request(method: .put), .method),
        ] {
            #expect(
                CacheDecision.withoutEntry(request, hasOtherVariants: false)
                    == .forward(expected, mayUseOnError: false))
        }
        #expect(
            CacheDecision.withoutEntry(request(), hasOtherVariants: true)
                == .forward(.varyMiss, mayUseOnError: false))
    }

    @Test func `the age of a response of this process does not follow the wall clock`() throws {
        let response = try stored(["Cache-Control": "max-age=60"])
        for wall in [Int64.min, 0, CacheHistory.epoch * 1_000, .max] {
            let now = CacheMoment(wall: wall, monotonic: Instant(nanoseconds: 59_000_000_000))
            #expect(CacheDecision.with(response, request(), at: now) == .reuse(.fresh))
        }
        let now = CacheMoment(wall: 0, monotonic: Instant(nanoseconds: 60_000_000_000))
        #expect(
            CacheDecision.with(response, request(), at: now)
                == .forward(.stale, mayUseOnError: false))
    }

    @Test func `a response of an earlier process is not trusted when the wall clock went back`() {
        func response(_ directives: String) -> StoredResponse {
            StoredResponse(
                status: .ok, headers: ["Cache-Control": directives, "ETag": "\"a\""],
                variant: VariantKey(stored: []),
                times: ResponseTimes(
                    receivedAt: CacheHistory.epoch * 1_000, delay: .milliseconds(20)),
                hasQuery: false)
        }
        let windows = "max-age=60, stale-while-revalidate=99, stale-if-error=99"
        #expect(
            CacheDecision.with(response(windows), request(), at: moment(59)) == .reuse(.fresh))
        #expect(
            CacheDecision.with(response(windows), request(), at: moment(-1))
                == .validate(["If-None-Match": "\"a\""], mayUseOnError: false))
        #expect(
            CacheDecision.with(response(windows), request(.cacheOnly), at: moment(-1))
                == .reuse(.withoutOrigin))
    }

    @Test func `a slow response is as old as its request`() throws {
        let response = try #require(
            StoredResponse(
                ResponseHead(status: .ok, headers: ["Cache-Control": "max-age=60", "Age": "10"]),
                request: [:],
                times: ResponseTimes(requested: Self.begin.monotonic, received: moment(20)),
                hasQuery: false))
        #expect(response.age(at: moment(20)) == .seconds(30))
        #expect(response.age(at: moment(49)) == .seconds(59))
        #expect(response.remaining(at: moment(50)) == .zero)
    }

    @Test func `a guess is a tenth of the age, a day at most, and none for a query`() throws {
        func remaining(_ seconds: Int64, hasQuery: Bool = false, _ settings: HeuristicFreshness)
            throws -> Duration?
        {
            let fields: HTTPHeaders = [
                "Last-Modified": HTTPDateText.text(CacheHistory.epoch - seconds),
                "Date": HTTPDateText.text(CacheHistory.epoch),
            ]
            let response = try #require(
                StoredResponse(
                    ResponseHead(status: .ok, headers: fields), request: [:],
                    times: ResponseTimes(requested: Self.begin.monotonic, received: Self.begin),
                    hasQuery: hasQuery, settings))
            return response.remaining(at: Self.begin)
        }
        var settings = HeuristicFreshness()
        #expect(try remaining(1_000, settings) == .seconds(100))
        #expect(try remaining(86_400 * 20, settings) == .seconds(86_400))
        #expect(try remaining(-1_000, settings) == .zero)
        #expect(try remaining(1_000, hasQuery: true, settings) == .zero)
        settings.includesQueries = true
        #expect(try remaining(1_000, hasQuery: true, settings) == .seconds(100))
    }

    @Test func `a response that varies on an authoriser's field is not stored`() {
        let head = ResponseHead(
            status: .ok, headers: ["Cache-Control": "max-age=9", "Vary": "authorization, accept"])
        for (fields, isAllowed): ([String], Bool) in [
            ([], true), (["Authorization"], false), (["X-Key"], true),
        ] {
            let allows = Storability.allows(
                head, to: request(), at: Self.begin, authorisedFields: fields)
            #expect(allows == isAllowed, "\(fields)")
        }
    }

    @Test(arguments: [
        ("max-age=0", false), ("private", false), ("no-cache", false), ("max-age=1", true),
        ("public", true),
    ])
    func `a status that is never fresh by a guess is stored for a lifetime that it states`(
        directives: String, isAllowed: Bool
    ) {
        let head = ResponseHead(status: 599, headers: ["Cache-Control": directives])
        #expect(Storability.allows(head, to: request(), at: Self.begin) == isAllowed)
    }

    @Test(arguments: [(-1, false), (0, false), (1, true)])
    func `a status that is never fresh by a guess is stored until its Expires`(
        seconds: Int, isAllowed: Bool
    ) {
        let expires = HTTPDateText.text(CacheHistory.epoch + Int64(seconds))
        let head = ResponseHead(status: 599, headers: ["Expires": expires])
        #expect(Storability.allows(head, to: request(), at: Self.begin) == isAllowed)
    }

    @Test func `a URL has a bounded number of variants`() throws {
        var list = VariantList<Int>()
        for index in 0..<100 {
            let fields: HTTPHeaders = ["Foo": "\(index)"]
            let response = try #require(
                StoredResponse(
                    ResponseHead(status: .ok, headers: ["Vary": "Foo"]), request: fields,
                    times: ResponseTimes(requested: Self.begin.monotonic, received: Self.begin),
                    hasQuery: false))
            _ = list.add(.init(response: response, body: index), for: fields)
        }
        #expect(list.entries.count == VariantList<Int>.maxCount)
        #expect(list.index(for: ["Foo": "99"]) != nil)
        #expect(list.index(for: ["Foo": "0"]) == nil)
    }
}
