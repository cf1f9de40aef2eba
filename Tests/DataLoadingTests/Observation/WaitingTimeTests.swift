// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading

@testable import DataLoadingCurl
import DataLoadingTesting
import Foundation
import Testing

/// The metrics of a load that ends while it waits.
@Suite struct WaitingTimeTests {
    @Test(arguments: [Stage.authorising, .waitingForRate, .waitingForConnection])
    func `metrics include the wait in which a deadline passed`(stage: Stage) async {
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

    @Test func `metrics include the wait for an authoriser that refuses`() async {
        let authoriser = TestAuthoriser(.hold)
        let bed = TestBed(authorisers: [authoriser])
        bed.loader.perform(.make())
        bed.settle()
        bed.advance(.seconds(2))
        authoriser.refuse(0)
        #expect(bed.ended?.response?.metrics.authorisationTime == .seconds(2))
    }

    @Test(arguments: [Stage.authorising, .waitingForRate, .backingOff])
    func `metrics include the wait that a cancellation ended`(stage: Stage) async {
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
    /// A deadline that passes before or after there is a connection.
    @Suite struct UnsentDeadlineTests {
        private let limit = ms(400) * patience

        private func load(
            _ url: URL, _ service: DataLoaderService, _ limit: Duration
        ) async -> (DataLoaderResponse?, LoadMetrics?) {
            let observer = RecordingObserver()
            service.addConsumptionObserver(observer, on: DispatchQueue(label: "observer"))
            let delegate = RecordingDelegate()
            let loader = service.makeFactory().makeDataLoader(delegate: delegate)
            var request = DataLoaderRequest(url: url)
            request.method = .post
            request.body = .data(Data("pay".utf8))
            request.timeout = limit
            loader.perform(request)
            let response = await delegate.outcomes(1).first?.response
            let told = await observer.entries(1).first?.response.metrics
            await service.shutDown(gracePeriod: .zero)
            return (response, told)
        }

        @Test func `a POST that never had a connection was not processed at its deadline`()
            async throws
        {
            // The server accepts the connection and sends nothing.
            let server = try LoopbackServer(script: .silent)
            defer { server.stop() }
            let url = testURL("https://127.0.0.1:\(server.port)/")
            let isCounted = try await unhurried { pace in
                let limit = limit * pace
                let (response, told) = await load(url, DataLoaderService(), limit)
                #expect(
                    response?.error == .timedOut(after: limit, mayHaveBeenProcessed: false))
                let metrics = try #require(response?.metrics)
                #expect(metrics.headBytesSent == 0)
                #expect(metrics.connectTime <= metrics.totalTime)
                #expect(told?.connectTime == metrics.connectTime)
                return metrics.connectTime > limit / 2
            }
            #expect(isCounted)
        }

        @Test func `a POST whose host was still being looked up was not processed at its deadline`()
            async throws
        {
            let isCounted = await unhurried { pace in
                let limit = limit * pace
                let gate = DispatchSemaphore(value: 0)
                var configuration = DataLoaderService.Configuration()
                configuration.transport = CurlTransport(lookup: { _ in
                    gate.wait()
                    return .unknown
                })
                let service = DataLoaderService(configuration: configuration)
                let (response, _) = await load(testURL("http://name.test/"), service, limit)
                gate.signal()
                #expect(
                    response?.error == .timedOut(after: limit, mayHaveBeenProcessed: false))
                return response?.metrics.connectTime ?? .zero > limit / 2
            }
            #expect(isCounted)
        }

        @Test func `a POST that was sent may have been processed at its deadline`() async throws {
            let server = try LoopbackServer(script: .answers([.steps(.stall)]))
            defer { server.stop() }
            // A machine that is slower than the limit sends nothing.
            let isSent = await unhurried { pace in
                let limit = limit * pace
                let (response, _) = await load(server.url(), DataLoaderService(), limit)
                return response?.error == .timedOut(after: limit, mayHaveBeenProcessed: true)
            }
            #expect(isSent)
        }
    }
}
