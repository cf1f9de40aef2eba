// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingAuth
import Dispatch

/// A long-running program: one service, two factories, some features.
final class Daemon {
    /// How long running loads may continue when the daemon ends.
    private static let gracePeriod = Duration.seconds(1)
    /// How often the rate limiter is asked whether a server holds a feature back.
    private static let pace = Duration.milliseconds(100)

    private var configuration: FeedConfiguration
    private let stream: EventStream
    private let scenario: Scenario?
    private let service: DataLoaderService
    private let anonymous: DataLoaderFactory
    private let authorised: DataLoaderFactory
    private let session: Session
    /// Nil without `--operations`.
    private let supervision: Supervision?
    /// Nil without `--fleet`.
    private var fleet: FleetWatch?
    /// What a reload gives another token; nil when the file has none.
    private let tokenAuthoriser: StaticTokenAuthoriser?
    private let observerQueue = DispatchQueue(label: "FeedDaemon.consumption")
    private let observers: [any ConsumptionObserver]
    private var running: [String: RunningFeature] = [:]
    private var record: RunRecord
    private var gates: GateWatch
    private var isEnding = false

    /// A feature and the task that refreshes it; releasing both drops the feature.
    private struct RunningFeature {
        let feature: Feature
        let refreshing: Task<Void, Never>
    }

    /// Makes the process's service of a configuration, and observes it.
    init(
        _ configuration: FeedConfiguration, _ options: Arguments.Options, stream: EventStream,
        scenario: Scenario?
    ) throws {
        self.configuration = configuration
        self.stream = stream
        self.scenario = scenario
        var settings = DataLoaderService.Configuration(configuration)
        supervision =
            options.isOperated
            ? Supervision(options, instrumenting: &settings, stream: stream) : nil
        fleet = FleetWatch(sharing: settings.rateLimiter, options)
        try DataLoaderService.bootstrap(settings)
        service = .shared
        anonymous = service.makeFactory()
        session = Session(stream)
        let authorisers = configuration.credential.authorisers(on: service, session: session)
        authorised = service.makeFactory(authorisers: authorisers)
        tokenAuthoriser = authorisers.lazy.compactMap { $0 as? StaticTokenAuthoriser }.first
        // The service holds observers weakly, so the daemon keeps them. Operations have a log too.
        let log = options.isOperated ? nil : options.log
        observers = [ReportObserver(stream)] + (log.map { [ConsumptionLogger(format: $0)] } ?? [])
        for observer in observers { service.addConsumptionObserver(observer, on: observerQueue) }
        record = RunRecord(configuration, fleet: options.fleet)
        gates = GateWatch(limiter: service.rateLimiter)
    }

    /// Runs until a signal, the end of the scenario or the limit, and prints a report.
    func run(atMost limit: Duration?) async throws {
        try supervision?.start(for: service)
        for plan in configuration.features { start(plan) }
        let play = scenario.map { scenario in Task { await scenario.play() } }
        await withDiscardingTaskGroup { group in
            group.addTask { [stream] in await stream.tick(every: Self.pace) }
            if let limit { group.addTask { [stream] in await stream.stop(after: limit) } }
            for await event in stream.events {
                if case .stopped = event { break }
                if case .stop = event, isEnding { continue }
                for note in record.learn(event) { Console.write(note.text) }
                switch event {
                case .drop(let name): running[name] = nil
                case .revive(let name): revive(name)
                case .tick: look()
                case .hangup: reload()
                case .stop:
                    play?.cancel()
                    group.addTask { [end = end()] in await end() }
                default: break
                }
                for finding in record.found { scenario?.seen.add(finding) }
            }
            group.cancelAll()
        }
        let summary = Summary(record: record, elapsed: record.elapsed(), isShow: scenario != nil)
        for line in summary.lines { Console.write(line) }
    }
}

extension Daemon {
    private func start(_ plan: FeedConfiguration.Feature) {
        let factory = plan.isAuthorised ? authorised : anonymous
        let feature = Feature(plan, loader: factory.makeDataLoader(), stream: stream)
        running[plan.name] = RunningFeature(feature: feature, refreshing: feature.start())
    }

    private func revive(_ name: String) {
        guard !isEnding, let plan = configuration.features.first(where: { $0.name == name }) else {
            return
        }
        start(plan)
    }

    /// Looks for what no observer reports: gates, and the state of the fleet.
    private func look() {
        guard !isEnding else { return }
        fleet?.look().map(stream.send)
        let members = fleet?.members ?? 1
        let events = configuration.features.compactMap { gates.look(at: $0, sharedBy: members) }
        events.forEach(stream.send)
    }

    /// Reads the file again; with an error in it, nothing changes.
    private func reload() {
        guard !isEnding,
            let new = supervision?.reload(configuration, service, tokenAuthoriser)
        else { return }
        // The features run as they were started, and so the rest of the configuration stays.
        (configuration.rates, configuration.defaultRate) = (new.rates, new.defaultRate)
        configuration.addresses = new.addresses
        record.forgetLimits()
    }

    /// Stops refreshing; returns the work that logs out and shuts the service down.
    private func end() -> @Sendable () async -> Void {
        isEnding = true
        for feature in running.values { feature.refreshing.cancel() }
        return { [service, supervision, authorised, observerQueue, stream] in
            // The credentials are in memory and would be lost. With a store on disk leave this out:
            // a daemon that logs out when it ends needs a login at each start.
            await authorised.reset()
            if let supervision {
                await supervision.shutDown(gracePeriod: Self.gracePeriod)
            } else {
                await service.shutDown(gracePeriod: Self.gracePeriod)
            }
            // All calls of the observers are in this queue by now.
            observerQueue.async { stream.send(.stopped) }
        }
    }
}
