// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// The loads that a daemon makes; it writes what became of each.
struct Demand: Sendable {
    let loader: DataLoader
    let url: URL
    let settings: Settings
    private let begun = ContinuousClock.now

    /// Makes loads until the time is up, and returns when all have ended.
    func run() async {
        let end = begun + .seconds(settings.seconds)
        if settings.demand > 0 { await arrivals(until: end) } else { await queues(until: end) }
    }

    /// As many loads as there may be: a number of them waits at any time.
    private func queues(until end: ContinuousClock.Instant) async {
        await withDiscardingTaskGroup { group in
            for _ in 0..<settings.width {
                group.addTask { while ContinuousClock.now < end { await load() } }
            }
        }
    }

    /// Loads that come as those of many users do, each independent of the others.
    private func arrivals(until end: ContinuousClock.Instant) async {
        await withDiscardingTaskGroup { group in
            var next = ContinuousClock.now
            while true {
                let chance = Double.random(in: Double.leastNonzeroMagnitude...1)
                next += .seconds(-log(chance) / settings.demand)
                guard next < end else { break }
                try? await Task.sleep(until: next, clock: .continuous)
                group.addTask { await load() }
            }
        }
    }

    /// Loads once, and writes how long the load waited for its slot, and how long after the daemon's
    /// start it came, or why it failed.
    private func load() async {
        var request = DataLoaderRequest(url: url)
        request.timeout = .seconds(settings.patience)
        let arrival = ContinuousClock.now - begun
        do {
            let response = try await loader.response(for: request)
            print("wait", nanoseconds(response.metrics.admissionTime), nanoseconds(arrival))
        } catch {
            guard let error = error as? DataLoaderError else { return print("failed", error) }
            if case .status(.tooManyRequests) = error.kind { return }
            print("failed", error.kind)
        }
    }

    private func nanoseconds(_ duration: Duration) -> Int64 { Int64(duration / .nanoseconds(1)) }
}
