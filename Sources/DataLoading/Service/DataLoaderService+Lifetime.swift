// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension DataLoaderService {
    /// How long a shut-down waits for cancelled loads to be handed over, when a queue is blocked.
    private static var handOverLimit: Duration { .seconds(2) }

    /// Cancels every load; new ones may start.
    public func cancelAllLoads() {
        endAllLoads()
    }

    /// Cancels every load at once; later ones end `.serviceInvalidated`.
    public func invalidateAndCancel() {
        isInvalidated.withLock { $0 = true }
        endAllLoads()
    }

    /// Lets no load start any more, waits for those that run, and cancels what is left.
    ///
    /// Loads that are performed meanwhile end `.serviceInvalidated`. Returns when every outcome was
    /// handed over and every socket is closed, at the latest 2 seconds after the grace period, should
    /// a delegate queue be blocked.
    ///
    /// - Parameter gracePeriod: How long running loads may go on; zero cancels them at once.
    public func shutDown(gracePeriod: Duration) async {
        isInvalidated.withLock { $0 = true }
        await runtime.ledger.waitUntilEmpty(atMost: gracePeriod)
        endAllLoads()
        await runtime.ledger.waitUntilEmpty(atMost: Self.handOverLimit)
        await runtime.transport.shutDown()
    }

    /// "Log out": resets every factory, and then the transport, which forgets what it stored.
    ///
    /// Loads that run end `.reset`, loads that are performed meanwhile `.resetInProgress`. Returns
    /// when all of that has happened; a reset that is under way already is joined.
    public func reset() async {
        await resetGate.perform {
            let factories = liveFactories.filter { !$0.isBelowAuthorisers }
            // All at once: no load goes on for a user while another one is still logging out.
            Exchange.endAll(factories.flatMap(\.exchanges), as: .reset)
            for factory in factories { await factory.reset() }
            await runtime.transport.reset()
        }
    }

    /// Whether no load may start for good.
    var isOver: Bool { isInvalidated.withLock { $0 } }

    private var liveFactories: [DataLoaderFactory] {
        factories.withLock { $0.values.compactMap(\.factory) }
    }

    private func endAllLoads() {
        Exchange.endAll(liveFactories.flatMap(\.exchanges), as: .cancelled)
    }
}
