// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoading
import DataLoadingSupport
public import Foundation

extension Operations {
    /// Waits for a signal or for the task's cancellation, reloads on SIGHUP, and shuts down: the
    /// life of a daemon.
    ///
    /// ```swift
    /// try await operations.run(gracePeriod: .seconds(5)) {
    ///     try operations.start(for: service)
    ///     startFeatures()
    /// } onHangup: {
    ///     try readSettings()
    /// }
    /// ```
    ///
    /// It is `DataLoaderService.run(untilSignals:gracePeriod:onStart:)` with the operations' own
    /// `shutDown(gracePeriod:)`, and what that says about signals and the process holds here. On
    /// SIGHUP, during that time, it calls `reload(_:)` with `onHangup`.
    ///
    /// An error that `onHangup` throws does not stop the daemon. Its description is a line of the
    /// log and the status that systemd shows, and so must contain no secret. Hangups that arrive
    /// during a reload are one more reload. A reload that is running is not waited for at the end.
    ///
    /// - Parameters:
    ///   - signals: Which signals; default SIGTERM and SIGINT.
    ///   - gracePeriod: The time that running loads have.
    ///   - begin: Called first, when all these signals are received already. Call `start(for:)` here:
    ///     systemd may send SIGHUP as soon as it is told that the daemon is ready, and before this
    ///     function is called that would end the process. After an error nothing is shut
    ///     down.
    ///   - apply: Reads the configuration again, on a queue where it may block; default: nothing, so
    ///     that SIGHUP only opens the log's file again.
    /// - Returns: What `shutDown(gracePeriod:)` stopped waiting for; nil if nothing was started.
    /// - Throws: What `begin` throws.
    @discardableResult public func run<Failure: Error>(
        untilSignals signals: [Int32] = [SIGTERM, SIGINT], gracePeriod: Duration,
        onStart begin: () async throws(Failure) -> Void,
        onHangup apply: @escaping @Sendable () throws -> Void = {}
    ) async throws(Failure) -> LeftBehind? {
        let hasFailed = Locked(false)
        let hangups = await SignalWatch([SIGHUP]) { [self] _ in
            do {
                try reload(apply)
                let isBetter = hasFailed.withLock { $0.replaced(by: false) }
                if isBetter { showStatus("The configuration was read again.") }
            } catch {
                hasFailed.withLock { $0 = true }
                tell("The configuration was not read again: \(error)")
            }
        }
        defer { hangups.end() }
        return try await SignalWatch.run(until: signals, begin: begin) {
            await shutDown(gracePeriod: gracePeriod)
        }
    }
}

extension Bool {
    /// Sets a value; returns the old one.
    fileprivate mutating func replaced(by new: Bool) -> Bool {
        defer { self = new }
        return self
    }
}
