// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Cancels one load.
public final class CancellationToken: Sendable {
    private struct State: Sendable {
        /// The load, until its outcome is taken.
        ///
        /// It is not weak, because a weak reference makes every reference to the load slower.
        var load: Load?
        var isCancelled = false
    }

    /// The number of the load, as in its response, error and metrics.
    public let loadNumber: Int64
    private let state = Locked(State())

    init(loadNumber: Int64) {
        self.loadNumber = loadNumber
    }

    /// Whether the load was cancelled: by this token, its loader or its service.
    public var isCancelled: Bool {
        state.withLock { $0.isCancelled }
    }

    /// Cancels the load; has no effect once its outcome was delivered.
    ///
    /// The loader calls the delegate's `didCancelRequest` on the delegate queue. When you call
    /// `cancel()` on that queue, this is the only further call for the load.
    public func cancel() {
        load?.cancel()
    }

    /// The load; nil once its outcome is taken.
    var load: Load? {
        state.withLock { $0.load }
    }

    func bind(to load: Load) {
        state.withLock { $0.load = load }
    }

    /// Releases the load, which can no longer be cancelled.
    func unbind() {
        // The load is released outside the lock.
        _ = state.withLock { $0.load.take() }
    }

    func markCancelled() {
        state.withLock { $0.isCancelled = true }
    }
}
