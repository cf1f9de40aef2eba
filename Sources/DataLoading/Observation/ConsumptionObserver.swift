// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Receives every load that ended, with the bytes that it sent and received.
///
/// A service holds its observers weakly. It calls each observer on the queue that it was added
/// with, after the load's outcome was delivered, and never under a lock. It also reports failed and
/// cancelled loads, after their sockets are closed. Responses and their requests come without
/// bodies.
///
/// A report after 10 ms of quiet comes at once, and those that follow within 10 ms come together. All
/// are on the queue when `DataLoaderService.shutDown(gracePeriod:)` returns, before anything that is
/// put there afterwards. At most 4,096 reports wait for an observer's queue. Then the oldest are
/// dropped and counted in `DataLoaderService.droppedConsumptionNotices`. A conformer passes this test:
///
/// ```swift
/// service.addConsumptionObserver(observer, on: queue)
/// _ = try await loader.response(for: request)
/// loader.perform(request).cancel()
/// // Later: two calls, the second one with `response.error == .cancelled`.
/// ```
public protocol ConsumptionObserver: AnyObject, Sendable {
    /// A load ended.
    ///
    /// The byte counts include headers and every attempt.
    func endedRequest(
        with response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64)
}
