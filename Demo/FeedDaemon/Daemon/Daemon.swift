// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Dispatch
import Foundation

/// A long-running program: some features, two factories, one service.
final class Daemon {
    /// How long running loads may go on when the daemon ends.
    private static let gracePeriod = Duration.seconds(1)
    /// How often the gates are looked at and a terminal is drawn.
    private static let pace = Duration.milliseconds(100)

    private let configuration: FeedConfiguration
    private let wire: Wire
    private let service: DataLoaderService
    private let anonymous: DataLoaderFactory
    private let authorised: DataLoaderFactory
    private let prompt: LoginPrompt
    private let observerQueue = DispatchQueue(label: "FeedDaemon.consumption")
    private let observers: [any ConsumptionObserver]
    private var running: [String: RunningFeature] = [:]
    private var board: Board
    private var gates: GateWatch
    private var screen: Screen
    private var isEnding = false

    /// A feature and the task that keeps it busy; letting go of it drops the feature.
    private struct RunningFeature {
        let feature: any Feature
        let beat: Task<Void, Never>
    }

    init(_ configuration: FeedConfiguration, wire: Wire, screen: Screen, log: Arguments.Log?) {
        self.configuration = configuration
        self.wire = wire
        self.screen = screen
        service = DataLoaderService(configuration: .init(configuration))
        anonymous = service.makeFactory()
        prompt = LoginPrompt(wire: wire)
        authorised = service.makeFactory(
            authorisers: configuration.credential.authorisers(
                on: service, prompt: prompt, wire: wire))
        // The service holds observers weakly: who adds them keeps them.
        observers = [BoardObserver(wire: wire)] + (log.map { [ConsumptionLogger($0)] } ?? [])
        for observer in observers { service.addConsumptionObserver(observer, on: observerQueue) }
        board = Board(
            features: configuration.features.map(\.name), addresses: configuration.addresses)
        gates = GateWatch(limiter: service.rateLimiter)
    }

    /// Runs until the time is over or a signal comes, and then says what it came to.
    func run(for duration: Duration, alongside scenario: Scenario? = nil) async {
        for feature in configuration.features { start(feature) }
        let play = scenario.map { scenario in Task { await scenario.play() } }
        await withDiscardingTaskGroup { group in
            group.addTask { [wire] in await wire.tick(every: Self.pace) }
            group.addTask { [wire] in
                guard (try? await Task.sleep(for: duration)) != nil else { return }
                wire.send(.stop(reason: "its time is over"))
            }
            for await event in wire.events {
                if case .stopped = event { break }
                if case .stop = event, isEnding { continue }
                for note in board.learn(event) { screen.add(note) }
                switch event {
                case .drop(let name): running[name] = nil
                case .revive(let name): revive(name)
                case .stop:
                    play?.cancel()
                    group.addTask { [end = end()] in await end() }
                case .tick: look(duration)
                default: break
                }
            }
            group.cancelAll()
        }
        let summary = Summary(
            board: board, elapsed: board.elapsed(), limits: limits, expectsAll: scenario != nil)
        screen.finish(with: summary.lines)
    }
}

/// The features' life.
extension Daemon {
    private func start(_ plan: FeedConfiguration.Feature) {
        let factory = plan.isAuthorised ? authorised : anonymous
        let feature: any Feature =
            plan.isStreamed
            ? StreamedFeature(plan, factory: factory, wire: wire)
            : WholeFeature(plan, factory: factory)
        running[plan.name] = RunningFeature(feature: feature, beat: feature.start())
    }

    private func revive(_ name: String) {
        guard !isEnding, let plan = configuration.features.first(where: { $0.name == name }) else {
            return
        }
        start(plan)
    }

    /// Lets nothing begin any more, and answers what logs out and ends the rest.
    private func end() -> @Sendable () async -> Void {
        isEnding = true
        for feature in running.values { feature.beat.cancel() }
        return { [service, authorised, observerQueue, wire] in
            // What this one has is in memory and would be lost. With a store on a disk leave it out: a
            // daemon that logs out when it ends wants a login at each start.
            await authorised.reset()
            await service.shutDown(gracePeriod: Self.gracePeriod)
            // Observers were told on this queue before: what comes behind them is the last.
            observerQueue.async { wire.send(.stopped) }
        }
    }
}

/// What is seen of it.
extension Daemon {
    private func look(_ duration: Duration) {
        for feature in configuration.features {
            if let change = gates.look(at: feature) { screen.add(board.learn(change)) }
        }
        screen.show(status(duration), at: board.elapsed())
    }

    /// The requests per second that each feature may send, where one limit holds for all of it.
    private var limits: [String: Double] {
        var limits: [String: Double] = [:]
        for feature in configuration.features {
            let rates = Set(feature.urls.map { service.rateLimiter.requestsPerSecond(for: $0) })
            let hosts = Set(feature.urls.map { $0.host() })
            if rates.count == 1, hosts.count == 1, let rate = rates.first {
                limits[feature.name] = rate
            }
        }
        return limits
    }

    private func status(_ duration: Duration) -> Status {
        let plans = Dictionary(configuration.features.map { ($0.name, $0) }) { first, _ in first }
        let rows = board.names.map { name in
            Status.Row(
                name: name, tally: board.tally(of: name),
                inFlight: running[name]?.feature.loader.currentRequests.count ?? 0,
                held: plans[name].flatMap { gates.isHeld($0) ? gates.wait(for: $0) : nil })
        }
        let peers = configuration.addresses.keys.sorted().map {
            (host: $0, address: service.resolver.address(forHost: $0))
        }
        return Status(elapsed: board.elapsed(), duration: duration, rows: rows, peers: peers)
    }
}
