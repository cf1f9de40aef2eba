// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingCache
import DataLoadingSupport
import DataLoadingTransport
import Testing

/// A case of the public suite of http-tests.org, told in steps.
struct CacheCase: Sendable, CustomTestStringConvertible {
    /// A request of the case, with what the origin would answer, and what is expected.
    struct Step: Sendable {
        var method = HTTPMethod.get
        var fields: [(String, String)] = []
        var status = HTTPStatus.ok
        var answer: [(String, String)] = []
        var breaksConnection = false
        var expected: CacheHistory.Outcome.Way?
        var expectedStatus: HTTPStatus?
        /// Fields that the delivered response has; nil for those that it must not have.
        var expectedFields: [(String, String?)] = []
        /// The time that passes after the step.
        var pause = Duration.zero

        /// What did not come as expected.
        func findings(_ outcome: CacheHistory.Outcome) -> [String] {
            var findings: [String] = []
            if let expected, expected != outcome.way {
                findings.append("\(outcome.way), not \(expected)")
            }
            if let expectedStatus, expectedStatus != outcome.status {
                findings.append("status \(String(describing: outcome.status))")
            }
            for (name, value) in expectedFields where outcome.headers[name] != value {
                findings.append("\(name) is \(outcome.headers[name] ?? "-")")
            }
            return findings
        }
    }

    var id: String
    var steps: [Step]

    var testDescription: String { id }

    /// Two requests without fields, three seconds apart; the first answer has these fields.
    static func pair(
        _ id: String, _ answer: (String, String)..., status: HTTPStatus = .ok,
        then expected: CacheHistory.Outcome.Way
    ) -> CacheCase {
        CacheCase(
            id: id,
            steps: [
                Step(status: status, answer: answer, expected: .forwarded, pause: .seconds(3)),
                Step(status: status, answer: answer, expected: expected),
            ])
    }

    /// Runs the case by the rules alone and with loads of a service; returns what did not come as
    /// expected.
    func run() async -> [String] {
        await byRules() + withLoads()
    }

    private func byRules() -> [String] {
        var history = CacheHistory()
        var findings: [String] = []
        for (index, step) in steps.enumerated() {
            let request = CacheRequest(
                method: step.method, headers: Self.headers(step.fields, history.now))
            let answer: CacheHistory.Answer =
                step.breaksConnection
                ? .breaksConnection
                : .response(step.status, Self.headers(step.answer, history.now))
            let outcome = history.perform(request, answer)
            findings += step.findings(outcome).map { "\(id), step \(index): \($0)" }
            history.wait(step.pause)
        }
        return findings
    }

    /// Headers in which a value of the form "now+30" is the date of so many seconds from now.
    static func headers(_ fields: [(String, String)], _ now: CacheMoment) -> HTTPHeaders {
        HTTPHeaders(
            fields.map { name, value in
                guard value.hasPrefix("now"), let seconds = Int64(value.dropFirst(3)) else {
                    return .init(name: name, value: value)
                }
                return .init(name: name, value: HTTPDateText.text(now.seconds + seconds))
            })
    }
}

/// Writes HTTP dates, for tests.
enum HTTPDateText {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The date in the form of RFC 9110, which is 1970 or later.
    static func text(_ seconds: Int64) -> String {
        let date = CivilDate(secondsSince1970: seconds)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let day = days[Int(seconds / 86_400 % 7)]
        let time = date.secondOfDay
        return "\(day), \(two(date.day)) \(months[Int(date.month) - 1]) \(date.year) "
            + "\(two(time / 3_600)):\(two(time / 60 % 60)):\(two(time % 60)) GMT"
    }
}
