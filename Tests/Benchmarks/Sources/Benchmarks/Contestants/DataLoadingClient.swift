// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingOperations
import Dispatch
import Foundation
import Synchronization

/// The full stack: authoriser, rate rule, configured address, loaders with delegates, an observer.
final class DataLoadingClient: Client {
    let loaders: [(loader: DataLoader, delegate: LoaderDelegate)]
    let observer = CountingObserver()
    let requests: RequestCycle
    let concurrency: Int
    let service: DataLoaderService
    /// What watches the service; nil for nothing.
    let operations: Operations?
    private let idler: DataLoader

    /// How many concurrent loads share a loader.
    static let loadsPerLoader = 8

    init?(
        _ workload: Workload, transport: (any Transport)? = nil,
        delivery: DataLoader.Delivery = .automatic, watching: OperationsConfiguration? = nil
    ) {
        guard let requests = RequestCycle(workload) else { return nil }
        self.requests = requests
        concurrency = workload.concurrency

        var configuration = DataLoaderService.Configuration()
        configuration.transport = transport
        configuration.loops = workload.loops ?? 1
        configuration.limits.perOrigin = concurrency
        configuration.limits.total = concurrency
        if let idle = workload.idle {
            configuration.limits.streamsPerOrigin = idle.count
            configuration.limits.streams = idle.count
        }
        if let security = workload.security {
            configuration.http2 = security.version == .http2 ? .always : .never
            let authorities = FileManager.default.contents(atPath: security.authorities)
            configuration.serverTrustPolicy = ServerTrustPolicy(certificateAuthorities: authorities)
        }
        operations = watching.map { Operations($0, instrumenting: &configuration) }
        service = DataLoaderService(configuration: configuration)
        for url in requests.origins {
            service.rateLimiter.setRequestsPerSecond(1_000_000, burst: 10_000, forHostOf: url)
        }
        for (host, address) in requests.addresses {
            service.resolver.setAddresses([address], forHost: host)
        }
        service.addConsumptionObserver(observer, on: DispatchQueue(label: "consumption"))
        let factory = service.makeFactory(authorisers: [FieldAuthoriser()])
        let count = (concurrency + Self.loadsPerLoader - 1) / Self.loadsPerLoader
        loaders = (0..<count).map { _ in
            let delegate = LoaderDelegate()
            return (factory.makeDataLoader(delegate: delegate, delivery: delivery), delegate)
        }
        idler = factory.makeDataLoader()
        do {
            try operations?.start(for: service)
        } catch {
            return nil
        }
    }

    func hold(_ idle: Workload.Idle) {
        guard let url = URL(string: idle.url) else { return }
        var request = DataLoaderRequest(url: url)
        request.slotUse = .stream
        request.timeout = .seconds(3_600)
        request.idleTimeout = .seconds(3_600)
        for _ in 0..<idle.count { idler.perform(request) }
    }

    func run(_ requests: Int) async -> Int {
        let round = Round(requests)
        for (_, delegate) in loaders { delegate.begin(round, self.requests) }
        observer.expect(requests)
        let next = Atomic(0)
        let failures = await round.run(concurrency) {
            let index = next.add(1, ordering: .relaxed).oldValue / Self.loadsPerLoader
            loaders[index].loader.perform(self.requests.next())
        }
        await observer.waitForAll()
        return failures
    }

    /// Performs the loads in batches of the given concurrency and answers them on this task.
    func load(_ requests: Int, from transport: HeldTransport) async {
        for batch in 0..<(requests / concurrency) {
            await runBatch(from: transport)
            // Reports come together after a pause, so that waiting for each batch would take long.
            if batch.isMultiple(of: 32) { await observer.waitForAll() }
        }
        await observer.waitForAll()
    }

    /// Starts as many loads as may run at once, answers them, and returns when all have ended.
    private func runBatch(from transport: HeldTransport) async {
        let round = Round(concurrency, started: concurrency)
        for (_, delegate) in loaders { delegate.begin(round, requests) }
        observer.expect(concurrency)
        async let failures = round.waitForAll {
            for (loader, _) in loaders {
                for _ in 0..<min(concurrency, Self.loadsPerLoader) {
                    loader.perform(requests.first)
                }
            }
        }
        await transport.answer(concurrency)
        _ = await failures
    }
}

/// Adds the field to every request.
final class FieldAuthoriser: Authoriser {
    let isNonblocking = true

    func authorise(_ request: DataLoaderRequest) -> Authorisation {
        var authorised = request
        authorised.headers[Workload.field.name] = Workload.field.value
        return .use(authorised)
    }
}
