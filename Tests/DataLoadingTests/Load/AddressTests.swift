// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// A host has ordered fallback addresses; only the peer of the connection changes.
@Suite struct AddressTests {
    private static func bed(
        _ answers: [ScriptedAnswer] = [], otherwise: ScriptedAnswer = .hold,
        delegate: RecordingDelegate = RecordingDelegate()
    ) -> TestBed {
        let bed = TestBed(answers, otherwise: otherwise, delegate: delegate)
        bed.service.resolver.setAddresses(["10.0.0.1", "10.0.0.2:81"], forHost: "origin.test")
        return bed
    }

    private static func addresses(_ bed: TestBed) -> [String?] {
        bed.transport.attempts.map(\.request.address)
    }

    @Test(arguments: [
        DataLoaderError.dns, .connectRefused, .connectTimeout, .tls, .connectionReset, .noResponse,
    ])
    func `the next address is tried at once when nothing was written`(error: DataLoaderError) {
        let bed = Self.bed(
            [.fail(error.kind), .fail(error.kind)], otherwise: .respond(status: 200))
        bed.loader.perform(.make { $0.method = .post })
        #expect(bed.error == nil)
        #expect(Self.addresses(bed) == ["10.0.0.1", "10.0.0.2:81", nil])
        #expect(bed.clock.elapsed == .zero)
        let metrics = bed.ended?.response?.metrics
        #expect(metrics?.attempts == 1)
        #expect(metrics?.retries == 0)
        #expect(metrics?.addresses == ["10.0.0.1", "10.0.0.2:81"])
        #expect(bed.transport.attempts.allSatisfy { $0.request.url.host() == "origin.test" })
        bed.expectNothingLeft()
    }

    @Test func `a load ends with the last error when every address failed`() {
        let bed = Self.bed(otherwise: .fail(.connectRefused))
        bed.loader.perform(.make())
        #expect(bed.error == .connectRefused)
        #expect(Self.addresses(bed) == ["10.0.0.1", "10.0.0.2:81", nil])
        bed.expectNothingLeft()
    }

    @Test(arguments: [DataLoaderError.certificate(reason: "expired"), .pin])
    func `a wrong certificate does not make the load try another address`(error: DataLoaderError) {
        let bed = Self.bed(otherwise: .fail(error.kind))
        bed.loader.perform(.make { $0.retryPolicy = .immediately(maximumRetries: 3) })
        #expect(bed.error == error)
        #expect(bed.transport.attempts.count == 1)
    }

    @Test func `a request that was written is not sent to another address`() {
        let bed = Self.bed(otherwise: .fail(.connectionReset, sent: .written))
        bed.loader.perform(.make())
        #expect(bed.error == .connectionReset)
        #expect(bed.transport.attempts.count == 1)
    }

    @Test func `a dead address is skipped and tried again after its ejection`() {
        let bed = Self.bed([.fail(.connectRefused)], otherwise: .respond(status: 200))
        bed.loader.perform(.make())
        bed.settle()
        bed.loader.perform(.make())
        bed.settle()
        #expect(Self.addresses(bed) == ["10.0.0.1", "10.0.0.2:81", "10.0.0.2:81"])
        bed.advance(.seconds(31))
        bed.loader.perform(.make())
        bed.settle()
        #expect(Self.addresses(bed).last == "10.0.0.1")
    }

    // A cancelled probe must not keep other loads from the address.
    @Test func `the next load probes an address when the first probe was cancelled`() {
        let bed = Self.bed([.fail(.connectRefused)], otherwise: .respond(status: 200))
        bed.loader.perform(.make())
        bed.settle()
        bed.advance(.seconds(31))
        bed.transport.then(.hold)
        bed.transport.then(.hold)
        let probe = bed.loader.perform(.make("/probe"))
        bed.settle()
        probe.cancel()
        bed.settle()
        bed.loader.perform(.make("/next"))
        bed.settle()
        #expect(Self.addresses(bed).suffix(2) == ["10.0.0.1", "10.0.0.1"])
        bed.loader.cancelAllLoads()
        bed.expectNothingLeft()
    }

    // The deadline of a load may pass before the connect timeout.
    @Test(arguments: [
        (Duration.seconds(1), SentState.nothingWritten, "10.0.0.2"),
        (.milliseconds(999), .nothingWritten, "10.0.0.1"), (.seconds(1), .written, "10.0.0.1"),
    ])
    func `an address is skipped after five loads in a row timed out waiting for a connection`(
        deadline: Duration, sent: SentState, next: String
    ) {
        let transport = ManualTransport()
        let bed = TestBed { $0.transport = transport }
        bed.service.resolver.setAddresses(["10.0.0.1", "10.0.0.2"], forHost: "origin.test")
        var used: [String?] { transport.attempts.elements.map(\.request.address) }
        for _ in 0..<5 {
            bed.loader.perform(.make { $0.timeout = deadline })
            bed.advance(deadline)
            transport.attempts.elements.last?.sink.didFail(
                TransportFailure(.cancelled, sent: sent))
        }
        #expect(Set(used) == ["10.0.0.1"])
        bed.loader.perform(.make())
        #expect(used.last == next)
        bed.loader.cancelAllLoads()
        transport.letGo()
    }

    // The deadline of every load of a service may pass before its idle limit, which would then never
    // show that a server is silent.
    @Test(arguments: [
        (Duration?.none, HTTPMethod.get, Duration.zero, "10.0.0.2"),
        (nil, .get, .seconds(6), "10.0.0.1"), (nil, .put, .zero, "10.0.0.1"),
        (.seconds(9), .get, .zero, "10.0.0.1"), (.seconds(20), .get, .zero, "10.0.0.2"),
        // A question that a server may answer late.
        (.seconds(40), .get, .zero, "10.0.0.1"),
    ])
    func `an address is skipped after five loads in a row had no answer in the service's time`(
        timeout: Duration?, method: HTTPMethod, waited: Duration, next: String
    ) {
        let transport = ManualTransport()
        let bed = TestBed { configuration in
            configuration.transport = transport
            configuration.timeouts.total = .seconds(10)
        }
        bed.service.resolver.setAddresses(["10.0.0.1", "10.0.0.2"], forHost: "origin.test")
        let url = testURL("http://origin.test/")
        var used: [String?] { transport.attempts.elements.map(\.request.address) }
        for _ in 0..<5 {
            bed.service.rateLimiter.setRequestsPerSecond(waited > .zero ? 0 : nil, forHostOf: url)
            bed.loader.perform(
                .make { request in
                    request.method = method
                    if method == .put { request.body = .data(Data("x".utf8)) }
                    request.timeout = timeout
                    if timeout == .seconds(40) { request.idleTimeout = .seconds(90) }
                })
            bed.advance(waited)
            bed.service.rateLimiter.setRequestsPerSecond(nil, forHostOf: url)
            bed.advance((timeout ?? .seconds(10)) - waited)
            transport.attempts.elements.last?.sink.didFail(
                TransportFailure(.cancelled, sent: .written))
        }
        #expect(used == Array(repeating: "10.0.0.1", count: 5))
        bed.loader.perform(.make())
        #expect(used.last == next)
        bed.loader.cancelAllLoads()
        transport.letGo()
    }

    @Test func `one slot covers all addresses of an attempt`() {
        let bed = Self.bed()
        bed.loader.perform(.make())
        for index in 0..<3 {
            #expect(bed.service.runtime.admission.load == (0, 1))
            bed.transport.attempts[index].fail(.connectRefused)
        }
        bed.expectNothingLeft()
    }

    @Test func `the delegate is asked for another stream when a dead address has read the body`() {
        let delegate = RecordingDelegate(
            bodyStream: { InputStream(data: Data("again".utf8)) })
        let bed = Self.bed(
            [
                .run { attempt in
                    attempt.takeBody()
                    attempt.fail(.connectRefused)
                }
            ], delegate: delegate)
        bed.loader.perform(
            .make { request in
                request.method = .post
                request.body = .oneShot(OneShotStream(InputStream(data: Data("once".utf8))))
            })
        bed.settle()
        #expect(Self.addresses(bed) == ["10.0.0.1", "10.0.0.2:81"])
        #expect(bed.transport.attempts.last?.takeBody() == Data("again".utf8))
        bed.transport.attempts.last?.respond(status: 200)
        #expect(bed.ended?.response?.metrics.attempts == 1)
        bed.expectNothingLeft()
    }

    @Test func `a cancelled load tries no further address`() {
        let bed = Self.bed()
        let token = bed.loader.perform(.make())
        token.cancel()
        bed.transport.attempts[0].fail(.connectRefused)
        bed.settle()
        #expect(bed.transport.attempts.count == 1)
        bed.expectNothingLeft()
    }
}
