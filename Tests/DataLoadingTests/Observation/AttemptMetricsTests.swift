// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// The attempts of a load, one by one.
@Suite struct AttemptMetricsTests {
    private func metrics(_ bed: TestBed) async throws -> LoadMetrics {
        try #require(await bed.outcome()?.response).metrics
    }

    @Test func `a load with one attempt has its numbers, and no list of its own`() async throws {
        var report = TransportReport()
        report.connectTime = ms(3)
        report.tlsTime = ms(4)
        report.firstByteTime = ms(9)
        report.headBytesSent = 90
        report.headBytesReceived = 80
        report.bodyBytesReceived = 7
        report.remoteAddress = "192.0.2.1"
        report.httpVersion = "1.1"
        let measured = report
        let bed = TestBed([
            .run { attempt in
                attempt.setReport(measured)
                attempt.respond(status: 404)
            }
        ])
        bed.loader.perform(.make("/a"))
        let metrics = try await metrics(bed)
        var expected = AttemptMetrics()
        expected.address = "192.0.2.1"
        expected.status = .notFound
        expected.connectTime = ms(3)
        expected.tlsTime = ms(4)
        expected.firstByteTime = ms(9)
        expected.httpVersion = "1.1"
        expected.headBytesSent = 90
        expected.headBytesReceived = 80
        expected.bodyBytesReceived = 7
        #expect(metrics.attemptMetrics == [expected])
        #expect(metrics.ended == .answered(.notFound, nanoseconds: 0))
    }

    @Test func `each attempt has its cause, its status or failure, and its time`() async throws {
        let bed = TestBed { $0.retry.maximumRetryCount = 2 }
        bed.loader.perform(.make("/a"))
        bed.advance(ms(20))
        await bed.attempt(0).respond(status: 302, headers: ["Location": "/b"])
        bed.advance(ms(30))
        await bed.attempt(1).fail(.connectionReset)
        bed.settle()
        bed.passPause()
        bed.advance(ms(40))
        await bed.attempt(2).respond(status: 503)
        bed.settle()
        bed.passPause()
        bed.advance(ms(50))
        await bed.attempt(3).respond(status: 200)
        let attempts = try await metrics(bed).attemptMetrics
        #expect(attempts.map(\.cause) == [nil, .redirect, .retry, .retry])
        #expect(attempts.map(\.status) == [302, nil, 503, 200])
        #expect(attempts.map(\.failure) == [nil, .connectionReset, nil, nil])
        #expect(attempts.map(\.duration) == [ms(20), ms(30), ms(40), ms(50)])
    }

    @Test func `bytes of the attempts add up to those of the load`() async throws {
        let answers = (1...4).map { number in
            ScriptedAnswer.run { attempt in
                var report = TransportReport()
                report.headBytesSent = Int64(number)
                report.headBytesReceived = Int64(10 * number)
                report.firstByteTime = ms(Int64(number))
                attempt.setReport(report)
                attempt.respond(status: 302, headers: ["Location": "/\(number)"])
            }
        }
        let bed = TestBed(answers + [.respond(status: 200)])
        bed.loader.perform(.make("/a"))
        let metrics = try await metrics(bed)
        let attempts = metrics.attemptMetrics
        #expect(attempts.map(\.headBytesSent) == [1, 2, 3, 4, 0])
        #expect(attempts.map(\.firstByteTime) == [ms(1), ms(2), ms(3), ms(4), nil])
        let sum = attempts.reduce(0) { $0 + $1.headBytesReceived }
        #expect(sum == metrics.headBytesReceived)
    }

    @Test func `further addresses are listed, each with its own failure`() async throws {
        let bed = TestBed([
            .fail(.connectRefused), .fail(.connectTimeout), .respond(status: 200),
        ])
        bed.service.resolver.setAddresses(["10.0.0.1", "10.0.0.2"], forHost: "origin.test")
        bed.loader.perform(.make("/a"))
        let metrics = try await metrics(bed)
        #expect(metrics.attempts == 1)
        let attempts = metrics.attemptMetrics
        #expect(attempts.map(\.failure) == [.connectRefused, .connectTimeout, nil])
        #expect(attempts.map(\.cause) == [nil, .nextAddress, .nextAddress])
        #expect(attempts.compactMap(\.address) == metrics.addresses)
    }

    @Test func `a cancelled load tells observers of the attempt that was open`() async throws {
        let bed = TestBed()
        let token = bed.loader.perform(.make("/a"))
        bed.advance(ms(70))
        token.cancel()
        let told = await bed.observer.entries(1)[0].response.metrics.attemptMetrics
        #expect(told.map(\.failure) == [.cancelled])
        #expect(told.map(\.duration) == [ms(70)])
    }

    @Test func `a load that its interceptor loads twice has the attempts of both`() async throws {
        let bed = TestBed(
            [.fail(.connectionReset), .respond(status: 500), .respond(status: 200)],
            interceptors: [Twice()]
        ) { $0.retry.maximumRetryCount = 0 }
        bed.loader.perform(.make("/a"))
        let attempts = try await metrics(bed).attemptMetrics
        #expect(attempts.map(\.failure) == [.connectionReset, nil])
        #expect(attempts.map(\.status) == [nil, 500])
    }

    @Test func `the newest thirty-two attempts are kept`() {
        var metrics = LoadMetrics()
        for number in 1...40 {
            var attempt = AttemptMetrics()
            attempt.headBytesSent = Int64(number)
            metrics.list([attempt])
        }
        #expect(metrics.attemptMetrics.map(\.headBytesSent) == (9...40).map { Int64($0) })
    }

    @Test func `a stored response is no attempt`() async throws {
        let bed = TestBed([
            .respond(status: 200, headers: ["Cache-Control": "max-age=60"], body: Data("a".utf8))
        ]) { $0.cache = .memory(capacity: 1 << 20) }
        bed.loader.perform(.make("/a"))
        _ = await bed.delegate.outcomes(1)
        bed.loader.perform(.make("/a"))
        let second = try #require(await bed.delegate.outcomes(2).last?.response).metrics
        #expect(second.source == .cache)
        #expect(second.attemptMetrics.isEmpty)
    }
}

/// Loads again what has failed.
private struct Twice: Interceptor {
    func intercept(
        _ request: DataLoaderRequest, next: @escaping NextLoad
    ) async throws -> DataLoaderResponse {
        do { return try await next(request) } catch { return try await next(request) }
    }
}
