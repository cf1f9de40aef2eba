// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// What the metrics say of a wait that a load has ended in.
@Suite struct WaitingTimeTests {
    @Test(arguments: [Stage.authorising, .waitingForRate, .waitingForConnection])
    func `counts the wait in which a deadline passed`(stage: Stage) async {
        let load = await StagedLoad(stage, timeout: .seconds(9))
        load.bed.advance(.seconds(9))
        load.settle(releasing: true)
        let metrics = load.outcomes.first?.response?.metrics ?? LoadMetrics()
        #expect(metrics.totalTime == .seconds(9))
        let waited =
            stage == .authorising ? metrics.authorisationTime : metrics.admissionTime
        #expect(waited == .seconds(9))
        let told = load.reports.first?.metrics
        #expect(told?.authorisationTime == metrics.authorisationTime)
        #expect(told?.admissionTime == metrics.admissionTime)
        load.endBlocker()
    }

    @Test func `counts the wait for an authoriser that refuses`() async {
        let authoriser = TestAuthoriser(.hold)
        let bed = TestBed(authorisers: [authoriser])
        bed.loader.perform(.make())
        bed.settle()
        bed.advance(.seconds(2))
        authoriser.refuse(0)
        #expect(bed.ended?.response?.metrics.authorisationTime == .seconds(2))
    }

    @Test(arguments: [Stage.authorising, .waitingForRate, .backingOff])
    func `counts the wait that a cancellation ended`(stage: Stage) async {
        let load = await StagedLoad(stage)
        load.bed.advance(.seconds(4))
        load.token.cancel()
        load.settle(releasing: true)
        let metrics = load.reports.first?.metrics ?? LoadMetrics()
        let times = [metrics.authorisationTime, metrics.admissionTime, metrics.backOffTime]
        #expect(times.filter { $0 > .zero } == [.seconds(4)])
    }
}

extension SocketTests {
    /// A deadline that passes while there is no connection yet, and one that passes later.
    @Suite struct UnsentDeadlineTests {
        private func load(
            _ url: URL, _ service: DataLoaderService
        ) async -> (DataLoaderResponse?, LoadMetrics?) {
            let observer = RecordingObserver()
            service.addConsumptionObserver(observer, on: DispatchQueue(label: "observer"))
            let delegate = RecordingDelegate()
            let loader = service.makeFactory().makeDataLoader(delegate: delegate)
            var request = DataLoaderRequest(url: url)
            request.method = .post
            request.body = .data(Data("pay".utf8))
            request.timeout = ms(400)
            loader.perform(request)
            let response = await delegate.outcomes(1).first?.response
            let told = await observer.entries(1).first?.response.metrics
            await service.shutDown(gracePeriod: .zero)
            return (response, told)
        }

        @Test func `nothing was processed of a POST that never had a connection`() async throws {
            // It takes the connection, and never says a word of TLS.
            let server = try LoopbackServer(script: .silent)
            defer { server.stop() }
            let url = testURL("https://127.0.0.1:\(server.port)/")
            let (response, told) = await load(url, DataLoaderService())
            #expect(
                response?.error == .timedOut(after: ms(400), mayHaveBeenProcessed: false))
            let metrics = try #require(response?.metrics)
            #expect(metrics.headBytesSent == 0)
            #expect(metrics.connectTime > ms(200))
            #expect(metrics.connectTime <= metrics.totalTime)
            #expect(told?.connectTime == metrics.connectTime)
        }

        @Test func `nothing was processed of a POST whose host's name was looked up`() async throws
        {
            let gate = DispatchSemaphore(value: 0)
            var configuration = DataLoaderService.Configuration()
            configuration.transport = CurlTransport(lookup: { _ in
                _ = gate.wait(timeout: .now() + .seconds(5))
                return .unknown
            })
            let service = DataLoaderService(configuration: configuration)
            let (response, _) = await load(testURL("http://name.test/"), service)
            gate.signal()
            #expect(
                response?.error == .timedOut(after: ms(400), mayHaveBeenProcessed: false))
            #expect(response?.metrics.connectTime ?? .zero > ms(200))
        }

        @Test func `a POST that was sent may have been processed`() async throws {
            let server = try LoopbackServer(script: .answers([.steps(.stall)]))
            defer { server.stop() }
            let (response, _) = await load(server.url(), DataLoaderService())
            #expect(response?.error == .timedOut(after: ms(400), mayHaveBeenProcessed: true))
        }
    }
}
