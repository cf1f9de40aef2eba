// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoading
import DataLoadingSupport
import Dispatch
import Foundation

/// Watches a service of a daemon: metrics, a log of its loads, and what systemd is told.
///
/// ```swift
/// var configuration = DataLoaderService.Configuration()
/// let operations = Operations(instrumenting: &configuration)
/// let service = DataLoaderService(configuration: configuration)
/// try operations.start(for: service)
/// ```
/// An application serves `exposition(accepting:)` to Prometheus, calls `reload(_:)` on SIGHUP, and
/// ends with `shutDown(gracePeriod:)`. Any thread may call.
public final class Operations: Sendable {
    private enum Stage: Sendable {
        case idle
        case starting
        case running(Running)
        case over
    }

    /// What a started service has; the service keeps its observers weakly.
    private struct Running: Sendable {
        let service: DataLoaderService
        let recorder: LoadRecorder
        let logger: AccessLogger?
        let watchdog: Watchdog?
        let loadSpans: LoadSpanRecorder?
    }

    /// The time that a service takes at most beyond its grace period.
    private static let serviceLimit = Duration.seconds(32)
    /// The time that the log has to write what waits when the service has ended.
    private static let logLimit = Duration.seconds(2)

    private let configuration: OperationsConfiguration
    private let registry: MetricRegistry
    private let manager: ServiceManager
    private let reloads: ReloadRecord
    private let tracer: Tracer
    private let telemetry: TelemetryExporter?
    private let timekeeper: any Timekeeper
    private let stage = Locked(Stage.idle)
    private let queue = DispatchQueue(label: "DataLoading.operations")

    /// Makes operations, and puts what counts attempts around the transport of a service's
    /// configuration.
    ///
    /// Set the transport, the limits, the rates and the addresses before, because metrics name the
    /// hosts that are configured now.
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
            hosts: configuration.hosts(of: service),
            maxSeries: min(max(1, configuration.seriesLimit), 10_000))
        manager = ServiceManager(environment: configuration.variables)
        reloads = ReloadRecord(timekeeper)
        tracer = configuration.makeTracer()
        telemetry = configuration.makeExporter(of: registry, collector, timekeeper)
        self.timekeeper = timekeeper
        let transport = service.transport ?? service.makeDefaultTransport()
        let listeners: [(any AttemptListener)?] = [telemetry?.spans]
        service.transport = transport.counted(
            by: registry, telling: listeners.compactMap(\.self), tracer: tracer,
            timekeeper: timekeeper)
    }

    /// Opens the log, watches the loads of a service, and tells systemd that it is ready.
    ///
    /// The service is the one whose configuration was instrumented.
    public func start(for service: DataLoaderService) throws(OperationsError) {
        let isFirst = stage.withLock { stage in
            guard case .idle = stage else { return false }
            stage = .starting
            return true
        }
        guard isFirst else { throw .startedBefore }
        let running: Running
        do throws(OperationsError) {
            running = try makeRunning(service)
        } catch {
            stage.withLock { $0 = .idle }
            throw error
        }
        registry.observe(service)
        if let logger = running.logger { registry.observe(logger) }
        registry.observe(reloads)
        service.addConsumptionObserver(running.recorder, on: queue)
        if let logger = running.logger { service.addConsumptionObserver(logger, on: queue) }
        if let spans = running.loadSpans { service.addConsumptionObserver(spans, on: queue) }
        telemetry?.start()
        stage.withLock { $0 = .running(running) }
        manager.ready()
        running.watchdog?.start()
    }

    private func makeRunning(_ service: DataLoaderService) throws(OperationsError) -> Running {
        if let name = configuration.malformedName { throw .malformed(name: name) }
        var logger: AccessLogger?
        do throws(LogFileError) {
            logger = try configuration.log.map { log throws(LogFileError) in try AccessLogger(log) }
        } catch {
            throw .log(path: error.path, reason: error.reason)
        }
        let watchdog = Watchdog(
            environment: configuration.variables,
            process: getpid(), manager: manager,
            timerQueue: service.runtime.timerQueue, echoes: [Self.echo(of: service)])
        let loadSpans = telemetry?.spans.map { LoadSpanRecorder(tracer, $0, timekeeper) }
        return Running(
            service: service, recorder: LoadRecorder(registry), logger: logger, watchdog: watchdog,
            loadSpans: configuration.recordsLoadSpans ? loadSpans : nil)
    }

    /// Returns an echo through a thread of the transport, where it has any; the watchdog's own
    /// rounds go through the service's timer.
    static func echo(of service: DataLoaderService) -> Watchdog.Echo {
        { [weak service] in
            guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *),
                let executor = service?.taskExecutor
            else { return }
            await Task(executorPreference: executor) {}.value
        }
    }

    private var running: Running? {
        stage.withLock { stage in
            if case .running(let running) = stage { running } else { nil }
        }
    }

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
    /// `RateLimiter.replaceRates`, `HostResolver.replaceAddresses` and
    /// `StaticTokenAuthoriser.replaceToken`. What it throws is thrown on, and counted as a failed
    /// reload. The log is opened again in any case, because a rotation sends the same signal.
    public func reload(_ apply: () throws -> Void) rethrows {
        // Before its start the daemon is not ready, whatever it reads.
        let running = running
        if running != nil { manager.reloading() }
        defer {
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

    /// Opens the log's file again, after a rotation has renamed it.
    ///
    /// Lines before and after are whole, and none is lost. If it cannot be opened, the log continues
    /// with the file that it has.
    public func reopenLog() { running?.logger?.reopen() }

    /// Shows a sentence about the service in `systemctl status`.
    public func showStatus(_ text: String) { manager.status(text) }

    /// Tells systemd that the daemon ends, shuts the service down, and closes the log.
    ///
    /// It takes at most 2 seconds longer than the service's own `shutDown(gracePeriod:)`, whose result
    /// it returns, and 2 more for the last push of telemetry; lines that are not written by then are
    /// lost. Before `start(for:)`, and the second time, it does nothing and returns nil.
    @discardableResult public func shutDown(gracePeriod: Duration) async -> LeftBehind? {
        let last = stage.withLock { stage in
            guard case .running(let running) = stage else { return Running?.none }
            stage = .over
            return running
        }
        guard let last else { return nil }
        manager.stopping()
        let pushLimit = telemetry == nil ? .zero : TelemetryExporter.lastLimit
        manager.extendTimeout(by: gracePeriod + Self.serviceLimit + pushLimit + Self.logLimit)
        last.watchdog?.stop()
        let left = await last.service.shutDown(gracePeriod: gracePeriod)
        // The reports of the last loads are on the queue already.
        await queue.drain()
        await telemetry?.shutDown()
        _ = await last.logger?.close(within: Self.logLimit)
        return left
    }
}

extension DispatchQueue {
    /// Returns when everything that was added before has run.
    fileprivate func drain() async {
        await withCheckedContinuation { continuation in async { continuation.resume() } }
    }
}
