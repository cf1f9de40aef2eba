// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// What retries cost the budget of their origin, through the whole stack.
@Suite struct RetryCostTests {
    private enum End: CaseIterable {
        case cancelled, reset, whileThePolicyIsAsked
    }

    // The server was not asked again, so other loads may retry.
    @Test(arguments: End.allCases)
    private func `a retry that never begins costs the budget nothing`(end: End) async {
        let bed = TestBed(otherwise: .respond(status: 500)) { $0.limits.perOrigin = 30 }
        for _ in 0..<30 {
            bed.loader.perform(
                .make {
                    $0.retryPolicy =
                        end == .whileThePolicyIsAsked
                        ? CancellingPolicy(loader: bed.loader)
                        : .constant(.seconds(30), maximumRetries: 1)
                })
        }
        bed.settle()
        // The policy of the first load also cancels loads that have not been sent.
        #expect(bed.transport.attempts.count == 30 || end == .whileThePolicyIsAsked)
        #expect(bed.transport.attempts.count > 0)
        switch end {
        case .cancelled: bed.loader.cancelAllLoads()
        case .reset: await bed.factory.reset()
        case .whileThePolicyIsAsked: break
        }
        bed.settle()
        #expect(bed.service.runtime.originHealth.busyOrigins == 0)
        bed.expectNothingLeft()
    }

    @Test
    func `a retry that waits for the end of a response costs nothing if its load ends before`()
        async
    {
        for end in ["cancelled", "timed out"] {
            let bed = TestBed()
            bed.loader.perform(
                .make {
                    $0.retryPolicy = .immediately(maximumRetries: 1)
                    $0.timeout = .milliseconds(900)
                })
            await bed.attempt(0).sendHead(status: 503)
            bed.settle()
            #expect(bed.service.runtime.originHealth.busyOrigins == 1)
            if end == "cancelled" {
                bed.loader.cancelAllLoads()
            } else {
                bed.advance(.milliseconds(900))
            }
            bed.settle()
            #expect(bed.service.runtime.originHealth.busyOrigins == 0, "\(end)")
            bed.expectNothingLeft()
        }
    }

    @Test func `a retry whose body cannot be made again costs nothing`() async throws {
        let bed = TestBed(
            otherwise: .run { attempt in
                attempt.takeBody()
                attempt.respond(status: 503)
            })
        for _ in 0..<50 {
            let response = try await bed.loader.response(
                for: .make {
                    $0.method = .put
                    $0.body = .oneShot(OneShotStream(InputStream(data: Data("body".utf8))))
                    $0.retryPolicy = .immediately(maximumRetries: 1)
                })
            #expect(response.statusCode == .serviceUnavailable)
        }
        #expect(bed.service.runtime.originHealth.busyOrigins == 0)
        bed.expectNothingLeft()
    }

    @Test func `a retry that began costs the budget though its load is cancelled`() async {
        let bed = TestBed([.respond(status: 500)], otherwise: .hold)
        bed.loader.perform(.make { $0.retryPolicy = .immediately(maximumRetries: 1) })
        _ = await bed.attempt(1)
        bed.loader.cancelAllLoads()
        bed.settle()
        #expect(bed.service.runtime.originHealth.busyOrigins == 1)
        bed.expectNothingLeft()
    }

    // The budget belongs to the load's origin, and a redirect is no failure of that origin.
    @Test(arguments: ["http://other.test/", "/elsewhere"])
    func `an origin that answers retries with redirects gets the budget back`(location: String) {
        let bed = TestBed()
        for _ in 0..<150 {
            let count = bed.transport.attempts.count
            bed.loader.perform(.make { $0.maximumRetryCount = 1 })
            bed.settle()
            bed.transport.attempts.last?.respond(status: 503)
            bed.passPause()
            #expect(bed.transport.attempts.count == count + 2)
            bed.transport.attempts.last?.respond(status: 307, headers: ["Location": location])
            bed.settle()
            bed.transport.attempts.last?.respond(status: 200)
            bed.settle()
        }
        #expect(bed.service.runtime.originHealth.busyOrigins == 0)
        bed.expectNothingLeft()
    }

    private static let origin = Origin(isSecure: false, host: "origin.test", port: 80)

    @Test func `a retry that is answered with a 304 gets the budget back`() async throws {
        let caching = CacheBed()
        let bed = caching.bed([
            fresh("stored", ["ETag": "\"1\""], maxAge: 1), .respond(status: 503),
            .respond(status: 304, headers: ["ETag": "\"1\""]),
        ])
        _ = try await bed.loader.response(for: .make())
        bed.advance(.seconds(5))
        let response = try await bed.loader.response(
            for: .make { $0.retryPolicy = .immediately(maximumRetries: 1) })
        #expect(text(response) == "stored")
        #expect(response.metrics.retries == 1)
        #expect(bed.service.runtime.originHealth.busyOrigins == 0)
        bed.expectNothingLeft()
    }

    // A daemon that polls may get nothing but 304s for weeks.
    @Test func `each 304 that confirms what is stored adds one token to the budget`() async throws {
        let caching = CacheBed()
        let bed = caching.bed(
            [fresh("stored", ["ETag": "\"1\""], maxAge: 1)],
            otherwise: .respond(status: 304, headers: ["ETag": "\"1\""]))
        _ = try await bed.loader.response(for: .make())
        let health = bed.service.runtime.originHealth
        #expect(health.withdraw(.transient, for: Self.origin))
        for tokens in 487...489 {
            bed.advance(.seconds(5))
            let response = try await bed.loader.response(for: .make())
            #expect(response.metrics.source == .validated)
            #expect(health.balance(of: Self.origin) == tokens)
        }
        bed.expectNothingLeft()
    }

    @Test(arguments: [
        (304, true), (404, true), (401, true), (408, false), (425, false), (429, false),
        (500, false), (503, false),
    ])
    func `a response that is no sign of trouble counts for the budget`(status: Int, isAnswer: Bool)
    {
        let bed = TestBed(otherwise: .respond(status: status))
        let health = bed.service.runtime.originHealth
        #expect(health.withdraw(.transient, for: Self.origin))
        bed.loader.perform(.make())
        bed.settle()
        #expect(health.balance(of: Self.origin) == (isAnswer ? 487 : 486))
        bed.expectNothingLeft()
    }

    @Test func `a retry that is answered with a 304 costs the budget nothing`() {
        let bed = TestBed(
            [.fail(.connectionReset, sent: .written)], otherwise: .respond(status: 304))
        let health = bed.service.runtime.originHealth
        bed.loader.perform(.make { $0.retryPolicy = .immediately(maximumRetries: 1) })
        bed.settle()
        #expect(bed.transport.attempts.count == 2)
        #expect(health.balance(of: Self.origin) == 500)
        bed.expectNothingLeft()
    }

    // The server was not asked, and has shown nothing.
    @Test func `a stored redirect adds nothing to the budget of its origin`() async throws {
        let caching = CacheBed()
        let bed = caching.bed(
            [fresh("", ["Location": "http://other.test/b"], status: 301)],
            otherwise: .respond(status: 204))
        _ = try? await bed.loader.response(
            for: .make("/a") { $0.redirectPolicy = .doNotFollow })
        let health = bed.service.runtime.originHealth
        #expect(health.withdraw(.transient, for: Self.origin))
        let response = try await bed.loader.response(for: .make("/a"))
        #expect(response.statusCode == .noContent)
        #expect(bed.transport.attempts.map(\.request.url.host) == ["origin.test", "other.test"])
        #expect(health.balance(of: Self.origin) == 486)
        bed.expectNothingLeft()
    }
}

/// A policy that cancels all loads when it is asked.
private struct CancellingPolicy: RetryPolicy {
    let loader: DataLoader

    func delay(afterAttempt n: Int, outcome: AttemptOutcome) -> Duration? {
        loader.cancelAllLoads()
        return .seconds(1)
    }
}
