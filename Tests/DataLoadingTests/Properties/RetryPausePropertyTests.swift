// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// A pause is at least Retry-After, at most its cap and within the deadline.
@Suite struct RetryPausePropertyTests {
    @Test func `every pause lies between Retry-After, the cap and the deadline`() {
        property { generator in
            let configuration = RetryConfiguration()
            let planner = RetryPlanner(
                configuration: configuration, originHealth: OriginHealth(configuration),
                random: RandomSource(SeededGenerator(seed: generator.next())))
            var request = DataLoaderRequest(url: URL(filePath: "/"))
            request.maximumRetryCount = 100
            let asked = Int.random(in: 0...80, using: &generator)
            let isAsked = Bool.random(using: &generator)
            let status = [429, 500, 502, 503, 504].randomElement(using: &generator) ?? 503
            let remaining = ms(Int64.random(in: 0...90_000, using: &generator))
            let head = ResponseHead(
                status: HTTPStatus(rawValue: status),
                headers: isAsked ? ["Retry-After": "\(asked)"] : [:])
            let decision = planner.decide(
                after: FinishedAttempt(.response(head), mayBeSentTwice: true),
                RetryPlanner.Circumstances(
                    retries: Int.random(in: 0..<40, using: &generator), request: request,
                    origin: Origin(isSecure: false, host: "a.test", port: 80),
                    remaining: Bool.random(using: &generator) ? remaining : .seconds(1_000),
                    date: Date(timeIntervalSince1970: 0)))
            guard case .retry(let pause, _) = decision else {
                let mayStop = (isAsked && asked > 60) || remaining <= .seconds(max(asked, 20))
                return mayStop ? nil : "\(decision) with \(asked) s asked and \(remaining) left"
            }
            if isAsked, pause < .seconds(asked) { return "\(pause) before the \(asked) s asked" }
            let base = status == 429 || status == 503 ? 1.0 : 0.2
            let most = isAsked ? Double(asked) + max(Double(asked) / 10, base) : 0
            if pause > .seconds(min(60, max(20, most))) { return "\(pause), \(asked) s asked" }
            return pause < .zero ? "\(pause)" : nil
        }
    }

    @Test func `a pause that would outlast the deadline is not begun`() {
        property(cases: propertyCases / 50) { generator in
            let timeout = ms(Int64.random(in: 1...30_000, using: &generator))
            let asked = Int.random(in: 0...40, using: &generator)
            let headers: HTTPHeaders = asked % 3 == 0 ? [:] : ["Retry-After": "\(asked)"]
            let bed = TestBed(otherwise: .respond(status: 503, headers: headers)) {
                $0.retry.maximumRetryCount = 20
            }
            bed.loader.perform(.make { $0.timeout = timeout })
            while bed.passPause() {}
            guard bed.error == .status(.serviceUnavailable) || bed.error?.name == "rate_limited"
            else { return "\(String(describing: bed.error))" }
            let took = bed.ended?.response?.requestTime ?? .seconds(1_000)
            return took <= timeout ? nil : "\(took) of \(timeout)"
        }
    }
}

extension Duration {
    /// A duration of fractional seconds.
    fileprivate static func seconds(_ seconds: Double) -> Duration {
        .nanoseconds(Int64(seconds * 1e9))
    }
}
