// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
public import Foundation

extension DataLoaderService {
    /// Waits for a signal or for the task's cancellation, and shuts down: the life of a daemon.
    ///
    /// ```swift
    /// await service.run(gracePeriod: .seconds(5)) {
    ///     startFeatures()
    /// }
    /// ```
    ///
    /// The first signal begins `shutDown(gracePeriod:)`. From then on the signals have their default
    /// actions, so that a second one ends the process at once.
    ///
    /// Signals belong to the process. Until the function returns, nothing else that the process has
    /// set for them is called, dispatch sources excepted. Then it restores the actions that it
    /// found. Several services, and several calls at the same time, all receive a signal.
    ///
    /// - Parameters:
    ///   - signals: Which signals; default SIGTERM, which init systems send, and SIGINT, which a
    ///     terminal sends. `SIGKILL`, `SIGSTOP` and numbers of no signal are left out.
    ///   - gracePeriod: The time that running loads have.
    ///   - begin: Called first, when the signals are received already; a signal during it counts.
    ///     Start what loads here, because an earlier signal ends the process by its default
    ///     action.
    /// - Returns: What `shutDown(gracePeriod:)` stopped waiting for; usually empty.
    @discardableResult public func run(
        untilSignals signals: [Int32] = [SIGTERM, SIGINT], gracePeriod: Duration,
        onStart begin: () async -> Void = {}
    ) async -> LeftBehind {
        await SignalWatch.run(until: signals, begin: begin) {
            await shutDown(gracePeriod: gracePeriod)
        }
    }
}
