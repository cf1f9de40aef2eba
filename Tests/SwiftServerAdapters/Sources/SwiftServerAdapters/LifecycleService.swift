// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingOperations
import ServiceLifecycle

/// Ends the loads of a service when its `ServiceGroup` shuts down.
///
/// ```swift
/// let services: [any Service] = [LifecycleService(service, gracePeriod: .seconds(5)), crawler]
/// let group = ServiceGroup(
///     services: services, gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
/// A group ends its services from the last to the first, so list this one before those that load.
/// A limit of the group, `maximumGracefulShutdownDuration`, should be longer than the grace period.
struct LifecycleService: Service {
    private let gracePeriod: Duration
    private let shutDown: @Sendable (Duration) async -> LeftBehind?

    /// Ends a service.
    init(_ service: DataLoaderService, gracePeriod: Duration) {
        self.gracePeriod = gracePeriod
        shutDown = { await service.shutDown(gracePeriod: $0) }
    }

    /// Ends started operations and their service; systemd is told, and the log is written.
    init(_ operations: Operations, gracePeriod: Duration) {
        self.gracePeriod = gracePeriod
        shutDown = { await operations.shutDown(gracePeriod: $0) }
    }

    /// Waits for the end of the group; where the task is cancelled instead, loads have no time.
    func run() async throws {
        let isGraceful: Void? = try? await gracefulShutdown()
        _ = await shutDown(isGraceful == nil ? .zero : gracePeriod)
    }
}
