// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Hears of every load that ended, with the bytes it really moved.
///
/// A service holds its observers weakly and calls each on the queue that it was added with, after
/// the load's outcome was handed over, never under a lock. Failed and cancelled loads are heard of
/// too, once their sockets are closed. Responses and their requests come without bodies. At most 4,096
/// notices wait for an observer's queue; then the oldest are dropped, and counted in
/// `DataLoaderService.droppedConsumptionNotices`. A conformer passes this test:
///
/// ```swift
/// service.addConsumptionObserver(observer, on: queue)
/// _ = try await loader.response(for: request)
/// loader.perform(request).cancel()
/// // Later: two calls, the second one with `response.error == .cancelled`.
/// ```
public protocol ConsumptionObserver: AnyObject, Sendable {
    /// A load ended; heads are counted, and all its attempts.
    func endedRequest(
        with response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64)
}
