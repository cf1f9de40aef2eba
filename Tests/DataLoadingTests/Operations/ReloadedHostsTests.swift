// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
@testable import DataLoadingOperations
import DataLoadingTesting
import Foundation
import Testing

/// The labels of hosts that a daemon gets while it runs.
@Suite(.timeLimit(.minutes(30))) struct ReloadedHostsTests {
    private struct Malformed: Error {}

    /// The hosts of attempts in the metrics, with their numbers.
    private func attempts(_ operations: Operations) -> [String: Double] {
        let counts = ExpositionParser.samples(of: Array(operations.exposition().body)).filter {
            $0.name == "http_client_request_duration_seconds_count"
        }
        return Dictionary(
            counts.map { ($0.labels["server_address"] ?? "", $0.value) }, uniquingKeysWith: +)
    }

    @Test(arguments: [
        (OperationsConfiguration.LabelledHosts.configured, false), (.configured, true),
        (.only(["fixed.test"]), false), (.none, false),
    ]) func `hosts that a reload adds have series of their own from then on`(
        labelled: OperationsConfiguration.LabelledHosts, throwing: Bool
    ) async throws {
        var configuration = DataLoaderService.Configuration()
        configuration.transport = ScriptedTransport(otherwise: .respond(status: 200))
        var settings = OperationsConfiguration(environment: [:])
        settings.labelledHosts = labelled
        let operations = Operations(settings, instrumenting: &configuration)
        let service = DataLoaderService(configuration: configuration)
        try operations.start(for: service)
        let loader = service.makeFactory().makeDataLoader()
        func load(_ hosts: [String]) async throws {
            for host in hosts {
                let request = DataLoaderRequest(url: testURL("https://\(host)/"))
                _ = try await loader.response(for: request)
            }
        }
        try await load(["rated.test", "addressed.test", "fixed.test"])
        // A server chooses the host of a redirect, and may close it.
        let closed = testURL("https://other.test/")
        try service.rateLimiter.setRetryAfter(.seconds(60), for: closed)
        try? operations.reload {
            try service.rateLimiter.replaceRates(
                [.host(of: testURL("https://rated.test/"), requestsPerSecond: 1_000)],
                defaultRequestsPerSecond: nil)
            try service.resolver.replaceAddresses(["addressed.test": ["192.0.2.1"]])
            if throwing { throw Malformed() }
        }
        service.rateLimiter.clearRetryAfter(for: closed)
        try await load(["rated.test", "addressed.test", "fixed.test", "other.test"])
        let expected: [String: Double] =
            switch labelled {
            case .configured: ["_OTHER": 5, "rated.test": 1, "addressed.test": 1]
            case .only: ["_OTHER": 5, "fixed.test": 2]
            case .none: ["_OTHER": 7]
            }
        #expect(attempts(operations) == expected)
        await operations.shutDown(gracePeriod: .zero)
    }

    @Test func `hosts that get a rate outside of a reload are named from the next scrape on`()
        async throws
    {
        let scene = try TelemetryScene()
        await scene.load()
        try scene.service.rateLimiter.replaceRates(
            [.host(of: testURL("https://api.test/"), requestsPerSecond: 1_000)],
            defaultRequestsPerSecond: nil)
        let first = String(decoding: scene.operations.exposition().body, as: UTF8.self)
        #expect(
            first.contains("dataloading_rate_limit_per_second{server_address=\"api.test\"")
        )
        #expect(attempts(scene.operations) == ["_OTHER": 1])
        await scene.load()
        #expect(attempts(scene.operations) == ["_OTHER": 1, "api.test": 1])
        await scene.operations.shutDown(gracePeriod: .zero)
    }
}
