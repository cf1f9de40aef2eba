// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import CAllocations
import DataLoading
import Dispatch
import Foundation
import Synchronization

/// What an answer from the cache costs, in processor time and allocations, beside a dictionary with
/// a lock.
struct Hits: Measure {
    let options: Options

    static let number = 16
    private static let concurrency = 32
    private static let requestsPerRound = 96_000

    func run() async throws -> [Figure] {
        let requests = options.requests ?? Self.requestsPerRound
        let client = try await HitsClient()
        var samples = Samples()
        for round in 0...options.rounds {
            for contestant in [Contestant.dataLoading.rawValue, "dictionary"] {
                let load = { () async in
                    if contestant == "dictionary" {
                        client.look(up: requests)
                    } else {
                        await client.load(requests, Self.concurrency)
                    }
                }
                let before = Usage.now
                await load()
                let used = Usage.now.processorTime - before.processorTime
                allocations_begin()
                await load()
                let allocations = Double(allocations_end())
                // The first round warms up.
                guard round > 0 else { continue }
                samples.add(
                    used * 1e6 / Double(requests), "us/hit", of: contestant, c: Self.concurrency)
                samples.add(
                    allocations / Double(requests), "allocations/hit", of: contestant,
                    c: Self.concurrency)
            }
        }
        return samples.figures(of: Self.number)
    }
}

/// A loader with a delegate whose service has the response already.
private final class HitsClient: Sendable {
    private let service: DataLoaderService
    private let loader: DataLoader
    private let delegate = HitsDelegate()
    private let request: DataLoaderRequest
    private let dictionary: Mutex<[URL: Data]>

    init() async throws {
        guard let url = URL(string: "http://origin.test/body") else { throw Complaint("no URL") }
        let transport = HeldTransport(bodySize: 1_024, ["Cache-Control": "max-age=999999999"])
        request = DataLoaderRequest(url: url, sourceIdentifier: "benchmark")
        dictionary = Mutex([url: Data(repeating: 0, count: 1_024)])
        var configuration = DataLoaderService.Configuration()
        configuration.transport = transport
        configuration.cache = .memory()
        service = DataLoaderService(configuration: configuration)
        loader = service.makeFactory().makeDataLoader(delegate: delegate)
        let (loader, request) = (loader, request)
        async let first = loader.response(for: request)
        await transport.answer(1)
        _ = try await first
        guard try await loader.response(for: request).metrics.source == .cache else {
            throw Complaint("the response is not in the cache")
        }
    }

    func load(_ requests: Int, _ concurrency: Int) async {
        for _ in 0..<(requests / concurrency) {
            await delegate.wait(for: concurrency) {
                for _ in 0..<concurrency { loader.perform(request) }
            }
        }
    }

    func look(up requests: Int) {
        for _ in 0..<requests {
            let body = dictionary.withLock { $0[request.url] }
            if body?.count != 1_024 { return }
        }
    }
}

/// Counts responses.
private final class HitsDelegate: DataLoaderDelegate {
    private struct State {
        var missing = 0
        var continuation: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func wait(for count: Int, _ start: () -> Void) async {
        state.withLock { $0.missing += count }
        start()
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.missing > 0 { state.continuation = continuation }
                return state.missing == 0
            }
            if isOver { continuation.resume() }
        }
    }

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveSuccessfulResponse response: DataLoaderResponse
    ) {
        let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.missing -= 1
            return state.missing == 0 ? state.continuation.take() : nil
        }
        continuation?.resume()
    }

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveErrorResponse response: DataLoaderResponse
    ) {}

    func dataLoader(_ dataLoader: DataLoader, didCancelRequest request: DataLoaderRequest) {}
}
