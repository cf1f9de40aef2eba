// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingOperations
import DataLoadingSupport
import DataLoadingTesting
import Foundation
import Testing

@Suite struct InstrumentedTransportTests {
    private let registry = MetricRegistry.make()
    private let clock = ManualClock()
    private let held = HeldTransport()

    private var transport: any Transport {
        held.counted(by: registry, timekeeper: clock.timekeeper)
    }

    private var ends: [ExpositionParser.Sample] {
        registry.samples().filter { $0.name == "http_client_request_duration_seconds_count" }
    }

    private func start(_ sink: RecordingSink = RecordingSink()) -> any TransportTask {
        transport.start(TransportRequest(url: testURL("https://api.test/a?b")), sink: sink)
    }

    @Test func `an attempt is active from its start to its end, and measured in between`() async {
        let sink = RecordingSink()
        _ = start(sink)
        #expect(registry.total("http_client_active_requests") == 1)
        #expect(ends.isEmpty)
        clock.advance(by: .milliseconds(1_500))
        var report = TransportReport()
        report.httpVersion = "2"
        let inner = held.take()
        inner.didSend(1, of: 2)
        inner.didReceive(DataLoading.ResponseHead(status: 200))
        inner.didReceive(Data("body".utf8))
        inner.didEnd(report)
        #expect(registry.total("http_client_active_requests") == 0)
        #expect(
            ends.map(\.labels) == [
                [
                    "http_request_method": "GET", "server_address": "api.test",
                    "server_port": "443", "http_response_status_code": "200",
                    "network_protocol_version": "2",
                ]
            ])
        #expect(registry.total("http_client_request_duration_seconds_sum") == 1.5)
        #expect(sink.body == Data("body".utf8))
        #expect(sink.endCount == 1)
    }

    @Test func `a failed attempt has its error, and the status that came before it`() {
        _ = start()
        let inner = held.take()
        inner.didReceive(DataLoading.ResponseHead(status: 200))
        inner.didFail(TransportFailure(.truncatedBody, sent: .headReceived))
        #expect(ends.map { $0.labels["error_type"] } == ["truncated_body"])
        #expect(ends.map { $0.labels["http_response_status_code"] } == ["200"])
    }

    @Test func `an attempt without a connection is counted`() {
        _ = start()
        held.take().didFail(TransportFailure(.connectRefused, sent: .nothingWritten))
        #expect(ends.map { $0.labels["error_type"] } == ["connect_refused"])
        #expect(ends.map { $0.labels["http_response_status_code"] } == [nil])
    }

    @Test func `an attempt that was cancelled inside of its body is counted without an error`() {
        let task = start()
        let inner = held.take()
        inner.didReceive(DataLoading.ResponseHead(status: 200))
        task.cancel()
        #expect((task as? HeldTransport.Attempt)?.isCancelled.withLock { $0 } == true)
        inner.didFail(TransportFailure(.cancelled, sent: .headReceived))
        #expect(ends.map { $0.labels["error_type"] } == [nil])
        #expect(ends.map(\.value) == [1])
        #expect(registry.total("http_client_active_requests") == 0)
    }

    @Test(arguments: [(404, "404", "404"), (503, "503", "503"), (799, "_OTHER", nil)])
    func `a status from 400 on is an error`(_ status: Int, _ error: String, _ label: String?) {
        _ = start()
        let inner = held.take()
        inner.didReceive(DataLoading.ResponseHead(status: HTTPStatus(rawValue: status)))
        inner.didEnd(TransportReport())
        #expect(ends.map { $0.labels["error_type"] } == [error])
        #expect(ends.map { $0.labels["http_response_status_code"] } == [label])
    }

    @Test func `an attempt that ends twice is counted once`() {
        _ = start()
        let inner = held.take()
        inner.didEnd(TransportReport())
        inner.didFail(TransportFailure(.connectionReset, sent: .written))
        #expect(ends.map(\.value) == [1])
        #expect(registry.total("http_client_active_requests") == 0)
    }

    @Test func `an attempt for the cache only is passed on and not counted`() {
        var request = TransportRequest(url: testURL("https://api.test/"))
        request.cachePolicy = .cacheOnly
        let sink = RecordingSink()
        _ = transport.start(request, sink: sink)
        #expect(held.take() === sink)
        #expect(registry.total("http_client_active_requests") == 0)
    }

    @Test func `resets and shut-downs are passed on once`() async {
        await transport.reset()
        await transport.shutDown()
        #expect(held.calls.withLock { $0 } == ["reset", "shutDown"])
    }

    @Test func `a transport that runs tasks on its thread still does, and another does not`() {
        let scripted = ScriptedTransport().counted(by: registry)
        #expect(scripted.first((any ExecutingTransport).self) == nil)
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            let executor = transport.first((any ExecutingTransport).self)?.taskExecutor
            #expect(executor === held.taskExecutor)
        }
    }

    #if os(Linux)
        @Test func `a counted transport keeps the contract of a transport`() async throws {
            try await checkTransport(
                CurlTransport().counted(by: registry), limit: .seconds(60))
            #expect(registry.total("http_client_request_duration_seconds_count") > 0)
            #expect(registry.total("http_client_active_requests") == 0)
        }
    #endif
}
