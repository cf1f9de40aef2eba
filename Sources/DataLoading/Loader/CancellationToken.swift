// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Cancels one load.
public final class CancellationToken: Sendable {
    private let exchange: Locked<WeakExchange>

    private struct WeakExchange: Sendable {
        weak var exchange: Exchange?
        var isCancelled = false
    }

    init() {
        exchange = Locked(WeakExchange())
    }

    /// Whether the load was cancelled: by this token, its loader or its service.
    public var isCancelled: Bool {
        exchange.withLock { $0.isCancelled }
    }

    /// Cancels the load; without effect once its outcome was handed over.
    ///
    /// The delegate hears `didCancelRequest` on its queue. Called on that queue, nothing else of the
    /// load is heard after it.
    public func cancel() {
        exchange.withLock { $0.exchange }?.cancel()
    }

    func bind(to exchange: Exchange) {
        self.exchange.withLock { $0.exchange = exchange }
    }

    func markCancelled() {
        exchange.withLock { $0.isCancelled = true }
    }
}
