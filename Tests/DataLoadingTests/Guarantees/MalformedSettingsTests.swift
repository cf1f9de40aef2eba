// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingTransport
@testable import DataLoading

@testable import DataLoadingCurl
import DataLoadingTesting
import Foundation
import Testing

/// Every setting with a value that it cannot have is refused by an error that names the setting.
@Suite struct MalformedSettingsTests {
    typealias Configuration = DataLoaderService.Configuration
    private typealias Row = (name: String, change: @Sendable (inout Configuration) -> Void)

    private static let rows: [Row] = numbers + times + timers + bursts

    private static var numbers: [Row] {
        let slots: [Row] = [0, -1, .min, 1_000_001, .max].flatMap { value -> [Row] in
            [
                ("Limits.perOrigin", { $0.limits.perOrigin = value }),
                ("Limits.total", { $0.limits.total = value }),
                ("Limits.streamsPerOrigin", { $0.limits.streamsPerOrigin = value }),
                ("Limits.streams", { $0.limits.streams = value }),
            ]
        }
        let others: [Row] = [-1, .min].flatMap { value -> [Row] in
            [
                ("Limits.queue", { $0.limits.queue = value }),
                ("Limits.body", { $0.limits.body = Int64(value) }),
                ("Limits.head", { $0.limits.head = value }),
                ("RetryConfiguration.maximumRetryCount", { $0.retry.maximumRetryCount = value }),
                ("RetryConfiguration.budget", { $0.retry.budget = value }),
            ]
        }
        let loops: [Row] = [0, -1, .min, 65, .max].map { value -> Row in
            ("Configuration.loops", { $0.loops = value })
        }
        let last: [Row] = [("Limits.head", { $0.limits.head = 0 })]
        return slots + others + loops + last
    }

    private static var times: [Row] {
        let limits: [Row] = [Duration.zero, .seconds(-1), .seconds(Int64.min)].flatMap {
            value -> [Row] in
            [
                ("Timeouts.connect", { $0.timeouts.connect = value }),
                ("Timeouts.idle", { $0.timeouts.idle = value }),
                ("Timeouts.total", { $0.timeouts.total = value }),
                ("HostResolver", { $0.resolver = HostResolver(firstEjection: value) }),
                ("HostResolver", { $0.resolver = HostResolver(maxEjection: value) }),
            ]
        }
        let others: [Row] = [
            ("RetryConfiguration.maxRetryAfter", { $0.retry.maxRetryAfter = .seconds(-1) }),
            ("HostResolver", { $0.resolver = HostResolver(maxEjection: .seconds(29)) }),
            ("HostResolver", { $0.resolver = HostResolver(maxEjection: .seconds(86_401)) }),
        ]
        return limits + others
    }

    private static var timers: [Row] {
        let second = Duration.seconds(1)
        let malformed: [(String, ExponentialTimer)] =
            [-1, 0, 0.99, Double.nan, .infinity, -.infinity].map {
                ("growth", ExponentialTimer(initialTime: second, maxTime: second, growth: $0))
            }
            + [-0.1, Double.nan, .infinity].map {
                (
                    "jitter",
                    ExponentialTimer(initialTime: second, maxTime: second, jitter: .normal($0))
                )
            }
            + [
                ("initialTime", ExponentialTimer(initialTime: .seconds(-1), maxTime: second)),
                ("initialTime", ExponentialTimer(initialTime: .seconds(2), maxTime: second)),
                ("maxTime", ExponentialTimer(initialTime: second, maxTime: .seconds(-1))),
            ]
        return malformed.flatMap { name, timer -> [Row] in
            [
                ("ExponentialTimer.\(name)", { $0.retry.timer = timer }),
                ("ExponentialTimer.\(name)", { $0.retry.throttledTimer = timer }),
            ]
        }
    }

    private static var bursts: [Row] {
        let url = testURL("http://origin.test/")
        return [0, -1, .min].flatMap { burst -> [Row] in
            [
                (
                    "burst",
                    {
                        $0.rateLimiter = RateLimiter(defaultRequestsPerSecond: 1, burst: burst)
                    }
                ),
                (
                    "burst",
                    {
                        $0.rateLimiter.setRequestsPerSecond(1, burst: burst, forHostOf: url)
                    }
                ),
            ]
        }
    }

    @Test(arguments: rows.indices)
    func `a setting of a service with a value that it cannot have ends every load with its name`(
        row: Int
    ) {
        let (name, change) = Self.rows[row]
        let bed = TestBed(otherwise: .respond(status: 200), change)
        bed.loader.perform(.make())
        guard case .invalidConfiguration(let reason)? = bed.error?.kind else {
            Issue.record("\(name) was not refused.")
            return
        }
        #expect(reason.contains(name))
        #expect(bed.transport.attempts.isEmpty)
        var configuration = Configuration()
        change(&configuration)
        #expect(throws: DataLoaderError.invalidConfiguration(reason: reason)) {
            try configuration.validate()
        }
        bed.expectNothingLeft()
    }

    @Test func `the extremes that a setting may have are not refused`() throws {
        let bed = TestBed(otherwise: .respond(status: 200)) {
            $0.limits.perOrigin = 1
            $0.limits.total = 1_000_000
            $0.limits.queue = .max
            $0.limits.body = .max
            $0.limits.head = .max
            $0.timeouts.connect = .nanoseconds(1)
            $0.timeouts.idle = .seconds(Int64.max)
            $0.timeouts.total = .seconds(Int64.max)
            $0.retry.budget = 0
            $0.retry.maxRetryAfter = .zero
            $0.retry.timer = ExponentialTimer(
                initialTime: .zero, maxTime: .zero, jitter: .normal(0), growth: 1)
            $0.rateLimiter = RateLimiter(defaultRequestsPerSecond: 1e300, burst: .max)
        }
        bed.loader.perform(.make { $0.idleTimeout = .seconds(Int64.max) })
        #expect(bed.error == nil)
        try Configuration().validate()
        bed.expectNothingLeft()
    }

    private static let requests:
        [(name: String, change: @Sendable (inout DataLoaderRequest) -> Void)] =
            [
                ("idleTimeout", { $0.idleTimeout = .zero }),
                ("maximumRetryCount", { $0.maximumRetryCount = -1 }),
                ("maximumRetryCount", { $0.maximumRetryCount = .min }),
                ("retryPolicy", { $0.retryPolicy = .immediately(maximumRetries: -1) }),
                ("retryPolicy", { $0.retryPolicy = .constant(.seconds(-1), maximumRetries: 1) }),
                (
                    "retryPolicy",
                    {
                        $0.retryPolicy = .exponential(
                            ExponentialTimer(initialTime: .seconds(2), maxTime: .seconds(1)),
                            maximumRetries: 1)
                    }
                ),
                ("responseSink", { $0.responseSink = .closure(limit: -1) { _ in } }),
                (
                    "body",
                    {
                        $0.method = .put
                        $0.body = .stream(length: -1) { InputStream(data: Data()) }
                    }
                ),
            ]

    @Test(arguments: requests.indices)
    func `a property of a request with a value that it cannot have ends its load with its name`(
        row: Int
    ) {
        let (name, change) = Self.requests[row]
        let bed = TestBed(otherwise: .respond(status: 200))
        bed.loader.perform(.make("/", change))
        #expect(bed.error == .invalidRequest(.setting(name: name)))
        #expect(bed.transport.attempts.isEmpty)
        bed.expectNothingLeft()
    }

    #if canImport(Glibc) || canImport(Musl)
        @Test(arguments: [0, -1, .min, .max])
        func `a transport that cannot keep so many idle connections makes no attempt`(limit: Int)
            async
        {
            let transport = CurlTransport(idleConnectionLimit: limit)
            let bed = TestBed { $0.transport = transport }
            bed.loader.perform(.make())
            let error = await bed.outcome()?.response?.error
            #expect(error?.name == "invalid_configuration")
            await transport.shutDown()
        }

        @Test(arguments: [0, -1, .min, 65, .max])
        func `a transport that cannot have so many loops makes no attempt`(loops: Int) async {
            let transport = CurlTransport(loops: loops)
            let bed = TestBed { $0.transport = transport }
            bed.loader.perform(.make())
            let error = await bed.outcome()?.response?.error
            #expect(error?.name == "invalid_configuration")
            #expect(transport.loopHandles.isEmpty)
            await transport.shutDown()
        }

        // The last row has no such settings; its loads end before the transport is asked.
        @Test(arguments: [
            (8, 64, 1, 64), (8, 64, 4, 64), (64, 64, 2, 128), (1_000, 64, 2, 128),
            (1_000_000, 1_000_000, 64, 1_000_000), (.max, .max, 64, .max),
        ])
        func `each loop of a service keeps the connections of any origin`(
            perOrigin: Int, total: Int, loops: Int, expected: Int
        ) {
            var limits = Limits()
            limits.perOrigin = perOrigin
            limits.total = total
            #expect(DefaultTransport.idleConnectionLimit(limits, loops: loops) == expected)
        }
    #endif
}
