// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Dispatch
import Foundation

/// A service above a transport without a network, whose hosts and loaders take turns.
final class ScriptedFleet {
    private let transport = HeldTransport(bodySize: 1_024)
    private let service: DataLoaderService
    private let observer = CountingObserver()
    private let delegate = LoaderDelegate()
    private let loaders: [DataLoader]
    private let requests: [DataLoaderRequest]
    private let cycle: RequestCycle?
    private var turn = 0
    private var newHosts = 0

    private static let concurrency = 32

    init(hosts: Int, loaders: Int) {
        cycle = RequestCycle(Workload(url: "http://127.0.0.1/", concurrency: Self.concurrency))
        var configuration = DataLoaderService.Configuration()
        configuration.transport = transport
        configuration.limits.perOrigin = Self.concurrency
        configuration.limits.total = Self.concurrency
        configuration.rateLimiter = RateLimiter(
            defaultRequestsPerSecond: 1_000_000, burst: 10_000)
        service = DataLoaderService(configuration: configuration)
        service.addConsumptionObserver(observer, on: DispatchQueue(label: "consumption"))
        let factory = service.makeFactory(authorisers: [FieldAuthoriser()])
        let delegate = delegate
        self.loaders = (0..<loaders).map { _ in factory.makeDataLoader(delegate: delegate) }
        requests = (0..<hosts).compactMap { Self.request(host: "host-\($0).test") }
    }

    /// Performs loads, each with the next loader and from the next host.
    func load(_ count: Int) async {
        for batch in 0..<(count / Self.concurrency) {
            await runBatch { fleet in fleet.requests[fleet.turn % fleet.requests.count] }
            if batch.isMultiple(of: 32) { await observer.waitForAll() }
        }
        await observer.waitForAll()
    }

    /// Performs loads, each from a host that was never loaded from before.
    func loadFromNewHosts(_ count: Int) async {
        for batch in 0..<(count / Self.concurrency) {
            await runBatch { fleet in
                fleet.newHosts += 1
                return Self.request(host: "new-\(fleet.newHosts).test") ?? fleet.requests[0]
            }
            if batch.isMultiple(of: 32) { await observer.waitForAll() }
        }
        await observer.waitForAll()
    }

    /// Starts as many loads as may run at once, answers them, and returns when all have ended.
    private func runBatch(_ next: (ScriptedFleet) -> DataLoaderRequest) async {
        guard let cycle else { return }
        let round = Round(Self.concurrency, started: Self.concurrency)
        delegate.begin(round, cycle)
        observer.expect(Self.concurrency)
        let batch = (0..<Self.concurrency).map { _ in
            turn += 1
            return (loader: loaders[turn % loaders.count], request: next(self))
        }
        async let failures = round.waitForAll {
            for (loader, request) in batch { loader.perform(request) }
        }
        await transport.answer(Self.concurrency)
        _ = await failures
    }

    private static func request(host: String) -> DataLoaderRequest? {
        URL(string: "http://\(host)/body").map {
            DataLoaderRequest(url: $0, sourceIdentifier: "benchmark")
        }
    }
}
