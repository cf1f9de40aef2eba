// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoading
import DataLoadingSupport
public import Foundation

/// Watches a service of a daemon: metrics, a log of its loads, and what systemd is told.
///
/// ```swift
/// var configuration = DataLoaderService.Configuration()
/// let operations = Operations(instrumenting: &configuration)
/// let service = DataLoaderService(configuration: configuration)
/// try operations.start(for: service)
/// ```
/// Keep it for as long as the service: it is what watches. An application opens an endpoint or
/// serves `exposition(accepting:)` itself, calls `reload(_:)` on SIGHUP, and ends with
/// `shutDown(gracePeriod:)`; `run(untilSignals:gracePeriod:onStart:onHangup:)` does the last two. Any
/// thread may call.
public final class Operations: Sendable {
    private enum Stage: Sendable {
        case idle
        case starting
        case running(Running)
        case over
    }

    /// What a started service has.
    private struct Running: Sendable {
        let service: DataLoaderService
        let logger: AccessLogger?
        let watchdog: Watchdog?
        let endpoint: EndpointServer?
    }

    /// The time that a service takes at most beyond its grace period.
    private static let serviceLimit = Duration.seconds(33)
    /// The time that the log has to write what waits when the service has ended.
    private static let logLimit = Duration.seconds(2)

    private let configuration: OperationsConfiguration
    private let registry: MetricRegistry
    private let manager: ServiceManager
    private let reloads: ReloadRecord
    private let healthCheck: HealthCheck
    private let tracer: Tracer
    private let telemetry: TelemetryExporter?
    /// What adds attempts to the log; nil where it has none.
    private let attemptLog: AttemptLog?
    /// What the dashboard shows; nil without one.
    private let live: LiveState?
    private let timekeeper: any Timekeeper
    private let stage = Locked(Stage.idle)
    /// Held while a program reads its configuration again, and taken by nothing else; recursive, so
    /// that a reload within another one does not wait for itself.
    private let reloading = NSRecursiveLock()

    /// Makes operations, and puts what counts attempts around the transport of a service's
    /// configuration.
    ///
    /// Set the transport, the limits, the rates and the addresses before: metrics name the hosts that
    /// are configured now, and those that are added later.
    public convenience init(
        _ configuration: OperationsConfiguration = OperationsConfiguration(),
        instrumenting service: inout DataLoaderService.Configuration
    ) {
        self.init(configuration, instrumenting: &service, timekeeper: SystemTimekeeper())
    }

    /// Makes operations with the clock of a test, and its transport to a collector.
    init(
        _ configuration: OperationsConfiguration,
        instrumenting service: inout DataLoaderService.Configuration, timekeeper: any Timekeeper,
        collector: (any Transport)? = nil
    ) {
        self.configuration = configuration
        registry = MetricRegistry(
            target: TargetLabels(
                serviceName: configuration.serviceName,
                serviceVersion: configuration.serviceVersion, instance: configuration.instance),
            hosts: HostTable(
                configuration.labelledHosts.hosts(of: service.rateLimiter, service.resolver)),
            maxSeries: min(max(1, configuration.seriesLimit), 10_000))
        manager = ServiceManager(environment: configuration.variables)
        reloads = ReloadRecord(timekeeper)
        healthCheck = HealthCheck(timekeeper)
        tracer = configuration.makeTracer()
        telemetry = configuration.makeExporter(of: registry, collector, timekeeper)
        self.timekeeper = timekeeper
        let transport = service.transport ?? service.makeDefaultTransport()
        live = configuration.endpoint?.servesDashboard == true ? LiveState(timekeeper) : nil
        attemptLog = configuration.makeAttemptLog()
        let listeners: [(any AttemptListener)?] = [telemetry?.spans, live, attemptLog]
        service.transport = transport.counted(
            by: registry, telling: listeners.compactMap(\.self), tracer: tracer,
            timekeeper: timekeeper)
    }

    /// Opens the log, watches the loads of a service, and tells systemd that it is ready.
    ///
    /// The service is the one whose configuration was instrumented. From then on the process writes no
    /// core file, unless ``OperationsConfiguration/forbidsCoreDumps`` is false, and has no variables any
    /// more by which programs that it starts could speak to systemd for it.
    ///
    /// - Throws: `.malformed` for a variable of the environment, `.log` and `.endpoint` where the log or
    ///   the endpoint cannot be opened, `.startedBefore` for a second call, and `.shutDown` after or
    ///   during the end.
    public func start(for service: DataLoaderService) throws(OperationsError) {
        let isFirst = stage.withLock { stage in
            guard case .idle = stage else { return false }
            stage = .starting
            return true
        }
        guard isFirst else { throw .startedBefore }
        // Before there is an endpoint, which may be asked at once.
        healthCheck.watch(service)
        let running: Running
        do throws(OperationsError) {
            running = try makeRunning(service)
        } catch {
            stage.withLock { stage in
                if case .starting = stage { stage = .idle }
            }
            throw error
        }
        let goesOn = stage.withLock { stage in
            guard case .starting = stage else { return false }
            stage = .running(running)
            return true
        }
        guard goesOn else {
            running.endpoint?.stop()
            throw .shutDown
        }
        if configuration.forbidsCoreDumps { CoreDumps.forbid() }
        // First, so that what is read of the service has their names.
        registry.nameHosts(of: service, configuration.labelledHosts)
        registry.observe(service)
        attemptLog?.use(running.logger)
        if let logger = running.logger { registry.observe(logger) }
        registry.observe(reloads)
        // Not on a queue, which may be too slow for all of them, and costs a change of threads: none of
        // these waits for anything.
        let observers: [(any ConsumptionObserver)?] = [
            LoadRecorder(registry), running.logger, makeLoadSpans(), live,
        ]
        for observer in observers.compactMap(\.self) { service.addInlineObserver(observer) }
        telemetry?.start()
        healthCheck.note(.ready)
        manager.ready()
        running.watchdog?.start()
        ServiceVariables.remove(configuration.variables)
    }

    private func makeRunning(_ service: DataLoaderService) throws(OperationsError) -> Running {
        if let name = configuration.malformedName { throw .malformed(name: name) }
        let logger = try configuration.makeLogger(tracer)
        let watchdog = Watchdog(
            environment: configuration.variables, process: getpid(), manager: manager,
            timerQueue: service.runtime.timerQueue, echoes: [service.transportEcho])
        return Running(
            service: service, logger: logger, watchdog: watchdog,
            endpoint: try makeEndpoint(service, logger))
    }

    private func makeLoadSpans() -> LoadSpanRecorder? {
        guard configuration.recordsLoadSpans, let spans = telemetry?.spans else { return nil }
        return LoadSpanRecorder(tracer, spans, timekeeper)
    }

    private func makeEndpoint(
        _ service: DataLoaderService, _ logger: AccessLogger?
    ) throws(OperationsError) -> EndpointServer? {
        guard let endpoint = configuration.endpoint else { return nil }
        if let fault = endpoint.fault { throw .endpoint(reason: fault) }
        live?.show({ [weak service] in service?.snapshot() }) { [weak logger] in
            logger?.state
        }
        let content = EndpointContent(
            exposition: { [registry] in Exposition(registry, accepting: $0) },
            health: { [healthCheck] in await healthCheck.now() },
            snapshot: { [live, weak service] in live?.snapshot() ?? service?.snapshotJSON ?? [] },
            dashboard: live.map { EndpointDashboard(feed: $0, page: DashboardPage.response) })
        do {
            return try EndpointServer(endpoint, content, timekeeper: timekeeper)
        } catch {
            throw .endpoint(reason: "\(endpoint.place.text): \(error.reason)")
        }
    }

    private var running: Running? {
        stage.withLock { stage in
            if case .running(let running) = stage { running } else { nil }
        }
    }

    /// The log; nil without one, and before the start.
    var logger: AccessLogger? { running?.logger }

    /// The address of the endpoint, with the token in its fragment, for an operator's browser.
    ///
    /// It is nil without an endpoint on 127.0.0.1, and before the start. Who sees it can read what the
    /// endpoint tells.
    public var endpointURL: URL? {
        guard let port = running?.endpoint?.port,
            case .loopback(_, let token) = configuration.endpoint?.place
        else { return nil }
        return URL(string: "http://127.0.0.1:\(port)/#token=\(token)")
    }

    /// Whether the daemon works and takes loads, for an HTTP server of its own.
    ///
    /// It asks for an echo from the service's timer and from each thread of its transport, and takes a
    /// second at most.
    ///
    /// - Returns: What `/healthz` and `/readyz` of the endpoint tell.
    public func health() async -> Health { await healthCheck.now() }

    /// The metrics as text, for an HTTP server to send.
    ///
    /// With OpenMetrics in `accept`, the `Accept` field of the request, the text is OpenMetrics 1.0
    /// with exemplars, else Prometheus' text 0.0.4.
    public func exposition(accepting accept: String? = nil) -> Exposition {
        Exposition(registry, accepting: accept)
    }

    /// Reads the configuration again: tells systemd, calls `apply`, and opens the log's file again.
    ///
    /// `apply` should check everything before it changes anything, and then use
    /// `RateLimiter.replaceRates`, `HostResolver.replaceAddresses`,
    /// `StaticTokenAuthoriser.replaceToken` and `replaceLogSampling`. What it throws is thrown on, and counted as a failed
    /// reload. The log is opened again in any case, because a rotation sends the same signal.
    ///
    /// Calls from several threads, and those of SIGHUP, run one after another. `apply` must not
    /// reload itself, nor wait for another thread that does.
    public func reload(_ apply: () throws -> Void) rethrows {
        reloading.lock()
        defer { reloading.unlock() }
        // Before its start the daemon is not ready, whatever it reads.
        let running = running
        if running != nil { manager.reloading() }
        defer {
            // Also of one that has failed in the middle.
            if let running { registry.addHosts(of: running.service, configuration.labelledHosts) }
            running?.logger?.reopen()
            if running != nil { manager.ready() }
        }
        do {
            try apply()
        } catch {
            reloads.note(isSuccess: false)
            throw error
        }
        reloads.note(isSuccess: true)
    }

    /// Shows a sentence about the service in `systemctl status`.
    public func showStatus(_ text: String) { manager.status(text) }

    /// Tells systemd that the daemon ends, shuts the service down, and closes the log.
    ///
    /// It takes at most 2 seconds longer than the service's own `shutDown(gracePeriod:)`, whose result
    /// it returns, and 2 more for the last push of telemetry; lines that are not written by then are
    /// lost. A systemd that takes no messages may hold it back for 12 more. Before `start(for:)`, and
    /// the second time, it does nothing and returns nil.
    /// During `start(for:)` it makes that throw, and leaves the service as it is.
    @discardableResult public func shutDown(gracePeriod: Duration) async -> LeftBehind? {
        let last = stage.withLock { stage -> Running? in
            switch stage {
            case .running(let running):
                stage = .over
                return running
            // The start finds out, and undoes what it did.
            case .starting: stage = .over
            case .idle, .over: break
            }
            return nil
        }
        guard let last else { return nil }
        healthCheck.note(.ending)
        manager.stopping()
        let pushLimit = telemetry == nil ? .zero : TelemetryExporter.lastLimit
        manager.extendTimeout(by: gracePeriod + Self.serviceLimit + pushLimit + Self.logLimit)
        last.watchdog?.stop()
        let left = await last.service.shutDown(gracePeriod: gracePeriod)
        await telemetry?.shutDown()
        _ = await last.logger?.close(within: Self.logLimit)
        last.endpoint?.stop()
        return left
    }
}
