// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension DataLoaderService {
    /// How long a shut-down waits for cancelled loads to be handed over, when a queue is blocked.
    private static var handOverLimit: Duration { .seconds(2) }

    /// Cancels every load; new ones may start.
    ///
    /// What authorisers load for themselves goes on: a server may have replaced a token already.
    public func cancelAllLoads() {
        endAllLoads(of: liveFactories.filter { !$0.isBelowAuthorisers })
    }

    /// Cancels every load at once; later ones end `.serviceInvalidated`.
    public func invalidateAndCancel() {
        stage.withLock { $0 = .over }
        endAllLoads(of: liveFactories)
    }

    /// Lets no load start any more, waits for those that run, and cancels what is left.
    ///
    /// Loads that are performed meanwhile end `.serviceInvalidated`, while those that run may still be
    /// authorised. Credentials that are being renewed are kept before it returns, as far as the grace
    /// period reaches. Returns when every outcome was handed over and every socket is closed, at the
    /// latest 2 seconds after the grace period, should a delegate queue be blocked.
    ///
    /// - Parameter gracePeriod: How long running loads may go on; zero cancels them at once.
    public func shutDown(gracePeriod: Duration) async {
        stage.withLock { if $0 == .open { $0 = .closing } }
        await runtime.ledger.waitUntilEmpty(atMost: gracePeriod)
        stage.withLock { $0 = .over }
        endAllLoads(of: liveFactories)
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

    /// Whether loads may start.
    enum Stage: Sendable {
        case open
        /// Only what authorisers load for the loads that run.
        case closing
        case over
    }

    private var liveFactories: [DataLoaderFactory] {
        factories.withLock { $0.values.compactMap(\.factory) }
    }

    private func endAllLoads(of factories: [DataLoaderFactory]) {
        Exchange.endAll(factories.flatMap(\.exchanges), as: .cancelled)
    }
}
