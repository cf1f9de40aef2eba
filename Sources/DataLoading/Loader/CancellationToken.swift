// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Cancels one load.
public final class CancellationToken: Sendable {
    private struct State: Sendable {
        /// The load until its outcome is taken; not weak, which would slow all its references down.
        var load: Exchange?
        var isCancelled = false
    }

    private let state = Locked(State())

    init() {}

    /// Whether the load was cancelled: by this token, its loader or its service.
    public var isCancelled: Bool {
        state.withLock { $0.isCancelled }
    }

    /// Cancels the load; without effect once its outcome was handed over.
    ///
    /// The delegate hears `didCancelRequest` on its queue. Called on that queue, nothing else of the
    /// load is heard after it.
    public func cancel() {
        load?.cancel()
    }

    /// The load, nil once its outcome is taken.
    var load: Exchange? {
        state.withLock { $0.load }
    }

    func bind(to load: Exchange) {
        state.withLock { $0.load = load }
    }

    /// Lets go of the load: nothing is left to cancel.
    func unbind() {
        // The load is let go after the lock.
        _ = state.withLock { $0.load.take() }
    }

    func markCancelled() {
        state.withLock { $0.isCancelled = true }
    }
}
