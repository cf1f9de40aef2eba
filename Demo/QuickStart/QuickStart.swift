// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation

/// A daemon with two features; `swift run QuickStart` ends after three seconds, or on SIGTERM.
@main enum QuickStart {
    static func main() async throws {
        // A small server, so that this runs anywhere; your daemon has the URLs of its configuration.
        let server = try LoopbackServer { request in
            request.path == "/prices"
                ? .ok(#"{"tea": 2.5, "scone": 4}"#) : .chunked(["open\n", "sold a scone\n"])
        }
        defer { server.stop() }

        // One service per process. It limits rates, retries loads and counts their bytes.
        var configuration = DataLoaderService.Configuration()
        configuration.rateLimiter.setRequestsPerSecond(5, forHostOf: server.url(""))
        configuration.retry.maximumRetryCount = 3
        try DataLoaderService.bootstrap(configuration)
        let service = DataLoaderService.shared

        // One line per load on standard error. Keep the observer: the service holds it weakly.
        let (log, logQueue) = (ConsumptionLogger(), DispatchQueue(label: "QuickStart.log"))
        service.addConsumptionObserver(log, on: logQueue)

        // One factory per credential (here none), one loader per feature.
        let factory = service.makeFactory()
        let (prices, events) = (factory.makeDataLoader(), factory.makeDataLoader())

        // SIGTERM or SIGINT ends it. Running loads may finish within two seconds; new ones fail
        // with `.serviceInvalidated`.
        let life = Task {
            await service.run(gracePeriod: .seconds(2)) {
                Task { await repeating { try await load(server.url("/prices"), with: prices) } }
                Task { await repeating { try await read(server.url("/events"), with: events) } }
            }
        }
        // A real daemon runs until the signal; this one ends after three seconds in the same way.
        DispatchQueue.global().asyncAfter(deadline: .now() + 3) { @Sendable in life.cancel() }
        let left = await life.value
        withExtendedLifetime(log) { logQueue.sync {} }  // The last line is written.
        print("QuickStart has ended" + (left.isEmpty ? "" : ", and left behind: \(left)"))
    }

    /// Loads once a second until the service is shut down; a failure is printed and tried again.
    static func repeating(_ load: @Sendable () async throws -> Void) async {
        while !Task.isCancelled {
            do { try await load() } catch DataLoaderError.serviceInvalidated { return } catch {
                print("a load failed: \(error)")
            }
            try? await Task.sleep(for: .seconds(1))
        }
    }

    static func load(_ url: URL, with loader: DataLoader) async throws {
        let call = loader.request(url, sourceIdentifier: "prices").validateStatusCode()
        let prices = try await call.responseDecodable([String: Double].self)
        print("prices: a scone costs \(prices["scone"] ?? 0)")
    }

    static func read(_ url: URL, with loader: DataLoader) async throws {
        let request = DataLoaderRequest(url: url, sourceIdentifier: "events")
        for try await chunk in loader.chunks(for: request) {
            print("events: \(String(decoding: chunk, as: UTF8.self).debugDescription)")
        }
    }
}
