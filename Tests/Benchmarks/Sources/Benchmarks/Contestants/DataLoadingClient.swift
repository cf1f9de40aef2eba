// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Dispatch
import Foundation
import Synchronization

/// The full stack: authoriser, rate rule, configured address, loaders with delegates, an observer.
final class DataLoadingClient: Client {
    let loaders: [(loader: DataLoader, delegate: LoaderDelegate)]
    let observer = CountingObserver()
    let request: DataLoaderRequest
    let concurrency: Int
    private let service: DataLoaderService

    /// How many concurrent loads share a loader.
    static let loadsPerLoader = 8

    init?(
        _ workload: Workload, transport: (any Transport)? = nil,
        delivery: DataLoader.Delivery = .queue
    ) {
        // The URL has a host that only the resolver knows.
        guard var parts = URLComponents(string: workload.url), let address = parts.host else {
            return nil
        }
        let host = "origin.test"
        parts.host = host
        guard let url = parts.url else { return nil }
        concurrency = workload.concurrency
        request = DataLoaderRequest(url: url, sourceIdentifier: "benchmark")

        var configuration = DataLoaderService.Configuration()
        configuration.transport = transport
        configuration.limits.perOrigin = concurrency
        configuration.limits.total = concurrency
        service = DataLoaderService(configuration: configuration)
        service.rateLimiter.setRequestsPerSecond(1_000_000, burst: 10_000, forHostOf: url)
        service.resolver.setAddresses([address], forHost: host)
        service.addConsumptionObserver(observer, on: DispatchQueue(label: "consumption"))
        let factory = service.makeFactory(authorisers: [FieldAuthoriser()])
        let count = (concurrency + Self.loadsPerLoader - 1) / Self.loadsPerLoader
        loaders = (0..<count).map { _ in
            let delegate = LoaderDelegate()
            return (factory.makeDataLoader(delegate: delegate, delivery: delivery), delegate)
        }
    }

    func run(_ requests: Int) async -> Int {
        let round = Round(requests)
        for (_, delegate) in loaders { delegate.begin(round, request) }
        observer.expect(requests)
        let next = Atomic(0)
        let failures = await round.run(concurrency) {
            let index = next.add(1, ordering: .relaxed).oldValue / Self.loadsPerLoader
            loaders[index].loader.perform(request)
        }
        await observer.waitForAll()
        return failures
    }

    /// Performs the loads in batches of the given concurrency and answers them on this task.
    func load(_ requests: Int, from transport: HeldTransport) async {
        for _ in 0..<(requests / concurrency) {
            await runBatch(from: transport)
        }
    }

    /// Starts as many loads as may run at once, answers them, and returns when all have ended.
    private func runBatch(from transport: HeldTransport) async {
        let round = Round(concurrency, started: concurrency)
        for (_, delegate) in loaders { delegate.begin(round, request) }
        observer.expect(concurrency)
        async let failures = round.waitForAll {
            for (loader, _) in loaders {
                for _ in 0..<min(concurrency, Self.loadsPerLoader) { loader.perform(request) }
            }
        }
        await transport.answer(concurrency)
        _ = await failures
        await observer.waitForAll()
    }
}

/// Performs the next load when one has ended.
final class LoaderDelegate: DataLoaderDelegate {
    private let work = Mutex<(round: Round, request: DataLoaderRequest)?>(nil)

    func begin(_ round: Round, _ request: DataLoaderRequest) {
        work.withLock { $0 = (round, request) }
    }

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveSuccessfulResponse response: DataLoaderResponse
    ) {
        goOn(dataLoader, isFailure: response.body?.isEmpty ?? true)
    }

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveErrorResponse response: DataLoaderResponse
    ) {
        goOn(dataLoader, isFailure: true)
    }

    func dataLoader(_ dataLoader: DataLoader, didCancelRequest request: DataLoaderRequest) {}

    private func goOn(_ loader: DataLoader, isFailure: Bool) {
        guard let (round, request) = work.withLock({ $0 }) else { return }
        if round.endedOne(isFailure: isFailure) { loader.perform(request) }
    }
}

/// Adds the field to every request.
private final class FieldAuthoriser: Authoriser {
    let isNonblocking = true

    func authorise(_ request: DataLoaderRequest) -> Authorisation {
        var authorised = request
        authorised.headers[Workload.field.name] = Workload.field.value
        return .use(authorised)
    }
}

/// Counts its calls, so that a round ends when its last load was reported.
final class CountingObserver: ConsumptionObserver {
    private struct State {
        var missing = 0
        var bytes: Int64 = 0
        var continuation: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func expect(_ loads: Int) {
        state.withLock { $0.missing += loads }
    }

    func waitForAll() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.missing > 0 { state.continuation = continuation }
                return state.missing == 0
            }
            if isOver { continuation.resume() }
        }
    }

    func endedRequest(
        with response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64
    ) {
        let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.missing -= 1
            state.bytes += bytesDownloaded
            return state.missing == 0 ? state.continuation.take() : nil
        }
        continuation?.resume()
    }
}
