// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

@Suite struct RetryAfterTests {
    /// 6 November 1994, 08:49:07 UTC.
    private static let now = Date(timeIntervalSince1970: 784_111_747)

    struct Form: Sendable, CustomTestStringConvertible {
        let name: String
        let values: [String]
        let delay: Duration?

        init(_ name: String, _ values: String..., delay: Duration?) {
            self.name = name
            self.values = values
            self.delay = delay
        }

        var testDescription: String { name }
    }

    // Every format of Retry-After, readable or not.
    private static let forms = [
        Form("absent", delay: nil),
        Form("zero", "0", delay: .zero),
        Form("one", "1", delay: .seconds(1)),
        Form("two minutes", "120", delay: .seconds(120)),
        Form("white space around", " 5 ", delay: .seconds(5)),
        Form("tab around", "\t5\t", delay: .seconds(5)),
        Form("IMF-fixdate", "Sun, 06 Nov 1994 08:49:37 GMT", delay: .seconds(30)),
        Form("RFC 850", "Sunday, 06-Nov-94 08:49:37 GMT", delay: .seconds(30)),
        Form("asctime", "Sun Nov  6 08:49:37 1994", delay: .seconds(30)),
        Form("past date", "Sat, 05 Nov 1994 08:49:37 GMT", delay: .zero),
        Form(
            "year 9999", "Fri, 31 Dec 9999 23:59:59 GMT", delay: .nanoseconds(Int64.max)),
        Form("negative", "-1", delay: nil),
        Form("plus sign", "+1", delay: nil),
        Form("fraction", "1.5", delay: nil),
        Form("exponent", "1e9", delay: nil),
        Form(
            "10 to the 30th", "1" + String(repeating: "0", count: 30),
            delay: .nanoseconds(Int64.max)),
        Form(
            "a million digits", String(repeating: "9", count: 1_000_000),
            delay: .nanoseconds(Int64.max)),
        Form("leading zeros", String(repeating: "0", count: 40) + "7", delay: .seconds(7)),
        Form("word", "soon", delay: nil),
        Form("number and word", "60abc", delay: nil),
        Form("two fields", "5", "10", delay: .seconds(10)),
        Form("two fields, the larger first", "10", "5", delay: .seconds(10)),
        Form("two fields, one of them broken", "soon", "5", delay: .seconds(5)),
        Form(
            "two fields, one of them a date", "5", "Sun, 06 Nov 1994 08:49:37 GMT",
            delay: .seconds(30)),
        Form("comma list", "5, 10", delay: .seconds(10)),
        Form("comma list with a date", "5, Sun, 06 Nov 1994 08:49:37 GMT,7", delay: .seconds(30)),
        Form("commas alone", ",,", delay: nil),
        Form("empty", "", delay: nil),
        Form("blank", "  ", delay: nil),
        Form("not ASCII", "٣", delay: nil),
        Form("NUL", "5\u{0}", delay: nil),
    ]

    @Test(arguments: forms)
    func `every form of Retry-After is read`(form: Form) {
        let headers = HTTPHeaders(form.values.map { .init(name: "retry-AFTER", value: $0) })
        #expect(RetryAfter.delay(in: headers, date: Self.now) == form.delay)
    }

    @Test(arguments: [
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 94 08:49:37 GMT",
        "Sun, 06 nov 1994 08:49:37 GMT", "sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 31 Nov 1994 08:49:37 GMT", "Tue, 29 Feb 1994 08:49:37 GMT",
        "Thu, 29 Feb 1900 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 08:49:37 GMT+1",
        "Sun Nov 06 08:49:37 1994 GMT", "Sun Nov 6 08:49:37 1994",
        "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Sun, 06-Nov-94 08:49:37 GMT", "Sun, 06 Nov 10000 08:49:37 GMT",
        "Son, 06 Nov 1994 08:49:37 GMT",
        "sön, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:3",
    ])
    func `a malformed date in Retry-After counts as absent`(text: String) {
        #expect(RetryAfter.delay(in: ["Retry-After": text], date: Self.now) == nil)
    }

    @Test(arguments: [
        ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
        ("Thu, 29 Feb 1996 12:00:00 GMT", 825_595_200),
        ("Sun, 28 Feb 2100 23:59:59 GMT", 4_107_542_399), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Wed, 31 Dec 1969 23:59:59 GMT", -1), ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200),
    ])
    func `HTTP dates follow the leap years of the calendar`(text: String, seconds: Int64) {
        #expect(HTTPDate.secondsSince1970(text[...], now: 0) == seconds)
        #expect(CivilDate(secondsSince1970: seconds).secondsSince1970 == seconds)
    }

    @Test func `a leap second is the first second of the next minute`() {
        let delay = RetryAfter.delay(
            in: ["Retry-After": "Sun, 06 Nov 1994 08:49:60 GMT"], date: Self.now)
        #expect(delay == .seconds(53))
    }

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:27 GMT", nil, Duration.seconds(10)),
            ("Sun, 06 Nov 1994 08:49:27 GMT", "4", .seconds(6)),
            ("Sun, 06 Nov 1994 08:49:27 GMT", "99999999999999999999", .zero),
            ("Sun, 06 Nov 1994 08:49:38 GMT", nil, .zero), (nil, nil, .seconds(30)),
            ("no date", "20", .seconds(30)),
        ] as [(String?, String?, Duration)])
    func `a date in Retry-After is compared with the date of its response`(
        date: String?, age: String?, delay: Duration
    ) {
        var headers: HTTPHeaders = ["Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT"]
        headers["Date"] = date
        headers["Age"] = age
        #expect(RetryAfter.delay(inArriving: headers, date: Self.now) == delay)
    }

    @Test func `a wrong local clock does not change the gate of a host`() {
        let bed = TestBed([
            .respond(
                status: 503,
                headers: [
                    "Date": "Sun, 06 Nov 2044 08:49:27 GMT",
                    "Retry-After": "Sun, 06 Nov 2044 08:49:37 GMT",
                ])
        ])
        bed.loader.perform(.make())
        bed.settle()
        let wait = bed.service.rateLimiter.earliestTimeUntilRequestCanBeExecuted(.make())
        #expect(wait == .seconds(10))
    }

    @Test func `a fraction of a second of the wall clock counts in Retry-After`() {
        let date = Self.now.addingTimeInterval(0.25)
        let delay = RetryAfter.delay(
            in: ["Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT"], date: date)
        #expect(delay == .milliseconds(29_750))
    }

    // RFC 9110 section 5.6.7: a year that seems more than 50 years ahead is in the past.
    @Test(arguments: [
        ("Monday, 06-Nov-44 08:49:07 GMT", 2044), ("Monday, 06-Nov-44 08:49:08 GMT", 1944),
        ("Monday, 07-Nov-44 00:00:00 GMT", 1944), ("Monday, 01-Jan-45 00:00:00 GMT", 1945),
        ("Monday, 01-Jan-00 00:00:00 GMT", 2000), ("Friday, 31-Dec-93 00:00:00 GMT", 1993),
    ])
    func `a year of two digits is the latest one within fifty years`(
        text: String, year: Int64
    ) throws {
        let now = Int64(Self.now.timeIntervalSince1970)
        let seconds = try #require(HTTPDate.secondsSince1970(text[...], now: now))
        #expect(CivilDate(secondsSince1970: seconds).year == year)
    }

    @Test func `the rate limit reset header is read as a time to wait`() {
        func delay(_ headers: HTTPHeaders) -> Duration? {
            RetryAfter.rateLimitReset(in: headers, date: Self.now)
        }
        #expect(delay(["x-rate-limit-reset": "784111757"]) == .seconds(10))
        #expect(delay(["X-RateLimit-Reset": " 784111757 "]) == .seconds(10))
        #expect(delay(["x-rate-limit-reset": "784111700"]) == .zero)
        #expect(delay(["x-rate-limit-reset": "99999999999999999999"]) == .nanoseconds(Int64.max))
        #expect(delay(["x-rate-limit-reset": "soon"]) == nil)
        #expect(delay(["x-rate-limit-reset": ""]) == nil)
        #expect(delay([:]) == nil)
    }

    @Test func `Retry-After is read at any wall clock time and is never negative`() {
        for seconds in [Double.nan, .infinity, -.infinity, 1e300, -1e300] {
            let date = Date(timeIntervalSince1970: seconds)
            for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "5"] {
                let delay = RetryAfter.delay(in: ["Retry-After": text], date: date)
                #expect(delay.map { $0 >= .zero } ?? (text != "5"))
                if text == "5" { #expect(delay == .seconds(5)) }
            }
        }
    }

    @Test func `HTTP dates round-trip through all three formats`() throws {
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let longDays = ["Sun", "Mon", "Tues", "Wednes", "Thurs", "Fri", "Satur"]
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = .gmt
        property(cases: 2_000) { generator in
            let seconds = Int64.random(in: 0...253_402_300_799, using: &generator)
            let parts = calendar.dateComponents(
                [.year, .month, .day, .hour, .minute, .second, .weekday],
                from: Date(timeIntervalSince1970: Double(seconds)))
            guard let year = parts.year, let month = parts.month, let day = parts.day,
                let hour = parts.hour, let minute = parts.minute, let second = parts.second,
                let weekday = parts.weekday
            else { return "no components" }
            let civil = CivilDate(secondsSince1970: seconds)
            guard civil.secondsSince1970 == seconds, civil.year == Int64(year),
                civil.month == Int64(month), civil.day == Int64(day)
            else { return "\(civil) is not \(parts)" }
            func pad(_ number: Int, _ width: Int = 2, _ filler: String = "0") -> String {
                let digits = String(number)
                return String(repeating: filler, count: max(0, width - digits.count)) + digits
            }
            let time = "\(pad(hour)):\(pad(minute)):\(pad(second))"
            let (name, monthName) = (days[weekday - 1], months[month - 1])
            for text in [
                "\(name), \(pad(day)) \(monthName) \(pad(year, 4)) \(time) GMT",
                "\(name) \(monthName) \(pad(day, 2, " ")) \(time) \(pad(year, 4))",
                "\(longDays[weekday - 1])day, \(pad(day))-\(monthName)-\(pad(year % 100)) \(time) GMT",
            ] {
                let now = seconds - Int64.random(in: -1_000_000...1_000_000, using: &generator)
                let read = HTTPDate.secondsSince1970(text[...], now: now)
                guard read == seconds else { return "\(text) gave \(String(describing: read))" }
            }
            return nil
        }
    }

    @Test func `no bytes in Retry-After trap or give a negative delay`() {
        let alphabet = Array("0123456789 ,:-GMTSunNovday\u{0}\u{7F}ä".utf8)
        property { generator in
            let count = Int.random(in: 0...40, using: &generator)
            let bytes = (0..<count).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
            }
            let text = String(decoding: bytes, as: UTF8.self)
            let delay = RetryAfter.delay(in: ["Retry-After": text], date: Self.now)
            return delay.map { $0 >= .zero } ?? true ? nil : "negative from \(text)"
        }
    }
}
