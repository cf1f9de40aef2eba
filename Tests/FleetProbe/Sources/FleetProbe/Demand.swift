// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// The loads that a daemon makes.
struct Demand: Sendable {
    /// What became of a load.
    enum Outcome: Sendable {
        /// It was done, after so long a wait for its slot.
        case done(Duration)
        /// The server asked to be left alone.
        case refused
        case failed(String)
    }

    let loader: DataLoader
    let url: URL
    let settings: Settings

    /// Makes loads until the time is up; returns what became of each.
    func run() async -> [Outcome] {
        let end = ContinuousClock.now + .seconds(settings.seconds)
        return settings.demand > 0 ? await arrivals(until: end) : await queues(until: end)
    }

    /// As many loads as there may be: a number of them waits at any time.
    private func queues(until end: ContinuousClock.Instant) async -> [Outcome] {
        await withTaskGroup(of: [Outcome].self) { group in
            for _ in 0..<settings.width {
                group.addTask {
                    var outcomes: [Outcome] = []
                    while ContinuousClock.now < end { outcomes.append(await load()) }
                    return outcomes
                }
            }
            var outcomes: [Outcome] = []
            for await more in group { outcomes += more }
            return outcomes
        }
    }

    /// Loads that come as those of many users do, each independent of the others.
    private func arrivals(until end: ContinuousClock.Instant) async -> [Outcome] {
        await withTaskGroup(of: Outcome.self) { group in
            var next = ContinuousClock.now
            while true {
                let chance = Double.random(in: Double.leastNonzeroMagnitude...1)
                next += .seconds(-log(chance) / settings.demand)
                guard next < end else { break }
                try? await Task.sleep(until: next, clock: .continuous)
                group.addTask { await load() }
            }
            var outcomes: [Outcome] = []
            for await outcome in group { outcomes.append(outcome) }
            return outcomes
        }
    }

    private func load() async -> Outcome {
        var request = DataLoaderRequest(url: url)
        request.timeout = .seconds(settings.patience)
        do {
            return .done(try await loader.response(for: request).metrics.admissionTime)
        } catch {
            guard let error = error as? DataLoaderError else { return .failed("\(error)") }
            if case .status(.tooManyRequests) = error.kind { return .refused }
            return .failed("\(error.kind)")
        }
    }
}
