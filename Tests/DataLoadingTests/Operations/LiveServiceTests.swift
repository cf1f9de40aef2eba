// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
@testable import DataLoadingOperations
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

@Suite struct LiveServiceTests {
    @Test func `loads of a service are shown with their attempts`() async throws {
        let state = LiveState()
        let transport = ScriptedTransport(
            [.fail(.connectionReset, sent: .written), .respond(status: 200)],
            otherwise: .respond(status: 200))
        var configuration = DataLoaderService.Configuration()
        configuration.transport = transport.counted(by: .make(), telling: [state])
        let service = DataLoaderService(configuration: configuration)
        state.show { [weak service] in service?.snapshot() }
        let queue = DispatchQueue(label: "dashboard")
        service.addConsumptionObserver(state, on: queue)
        let loader = service.makeFactory().makeDataLoader()
        var request = DataLoaderRequest(url: testURL("https://api.test/a?b"))
        request.sourceIdentifier = "feed"
        request.retryPolicy = .immediately(maximumRetries: 1)
        _ = try await loader.response(for: request)
        let tokens = service.makeFactoryBelowAuthorisers().makeDataLoader()
        _ = try await tokens.response(
            for: DataLoaderRequest(url: testURL("https://auth.test/token")))
        await service.shutDown(gracePeriod: .zero)
        queue.sync {}

        let data = Data(try #require(state.loads(after: 0)).data)
        let loads = try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
        let attempts = loads.map { $0["attempts"] as? [[String: Any]] ?? [] }
        #expect(attempts.map { $0.map { $0["cause"] as? String } } == [[nil, "retry"], [nil]])
        #expect(loads.map { $0["url"] as? String } == ["https://api.test/a?…", nil])
        #expect(loads.map { $0["internal"] as? Bool } == [nil, true])
        #expect(loads.map { $0["feature"] as? String } == ["feed", nil])
        let text = String(decoding: state.snapshot(), as: UTF8.self)
        #expect(text.contains("\"stage\":\"over\""))
        #expect(text.contains("\"attempts\":3"))
    }
}
