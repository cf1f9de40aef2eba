// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension DataLoaderService {
    /// Cancels every load; new ones may start.
    ///
    /// What authorisers load for themselves goes on: a server may have replaced a token already.
    public func cancelAllLoads() {
        let exchanges = liveFactories.flatMap(\.exchanges).filter { !$0.isForAuthoriser }
        Exchange.endAll(exchanges, as: .cancelled)
    }

    /// Cancels every load at once; later ones end `.serviceInvalidated`.
    public func invalidateAndCancel() {
        stage.withLock { $0 = .over }
        endAllLoads()
    }

    /// Lets no load start any more, waits for those that run, and cancels what is left.
    ///
    /// Loads that are performed meanwhile end `.serviceInvalidated`, while those that run may still be
    /// authorised: what an authoriser loads for one of them, such as its token, gets through, if it does so
    /// in the call that asks it or in a task that began there, and on no queue of its own. Credentials
    /// that are being renewed are kept before it returns, as far as the grace period reaches. Returns when
    /// every outcome was handed over and every socket is closed, at the latest 2 seconds after the grace
    /// period, should a delegate queue be blocked, and what the transport takes, 30 seconds at most.
    ///
    /// - Parameter gracePeriod: How long running loads may go on; zero cancels them at once.
    /// - Returns: What took longer than that, usually nothing.
    @discardableResult public func shutDown(gracePeriod: Duration) async -> LeftBehind {
        stage.withLock { if $0 == .open { $0 = .closing } }
        await runtime.ledger.waitUntilEmpty(atMost: gracePeriod)
        stage.withLock { $0 = .over }
        endAllLoads()
        await runtime.ledger.waitUntilEmpty(atMost: LeftBehind.handOverLimit)
        var left = LeftBehind()
        left.loads = runtime.ledger.live
        let transport = runtime.transport
        let isInTime = await runtime.agenda.wait(atMost: LeftBehind.transportLimit) {
            await transport.shutDown()
        }
        left.transport = !isInTime
        return left
    }

    /// "Log out": resets every factory at the same time, and then the transport, which forgets what it
    /// stored.
    ///
    /// Loads that run end `.reset`, loads that are performed meanwhile `.resetInProgress`. Returns
    /// when all of that has happened; a reset that is under way already is joined. What is blocked is
    /// waited for within limits: 2 seconds for outcomes to be handed over, 150 seconds for an authoriser,
    /// 30 seconds for the transport. A factory whose authoriser is slow stays closed until that is over;
    /// the others are open again after 5 seconds and what the transport takes.
    ///
    /// - Returns: What took longer than that, usually nothing.
    @discardableResult public func reset() async -> LeftBehind {
        await resetGate.leftBehind {
            isResetting.withLock { $0 = true }
            let factories = liveFactories.filter { !$0.isBelowAuthorisers }
            // All at once: no load goes on for a user while another one is still logging out.
            Exchange.endAll(factories.flatMap(\.exchanges), as: .reset)
            let waits = factories.map { $0.resetToWaitFor() }
            let resets = Task {
                await withTaskGroup(of: LeftBehind.self) { group in
                    for wait in waits { group.addTask { await wait() } }
                    return await group.reduce(into: LeftBehind()) { $0 += $1 }
                }
            }
            let agenda = runtime.agenda
            _ = await agenda.wait(atMost: LeftBehind.serviceLimit) { _ = await resets.value }
            let transport = runtime.transport
            let isInTime = await agenda.wait(atMost: LeftBehind.transportLimit) {
                await transport.reset()
            }
            isResetting.withLock { $0 = false }
            var left = await resets.value
            left.transport = !isInTime
            return left
        }
    }

    /// Whether loads may start.
    enum Stage: Sendable {
        case open
        /// Only what authorisers load for the loads that run.
        case closing
        case over
    }

    /// The factories that somebody keeps.
    var liveFactories: [DataLoaderFactory] {
        // Taken out of the lock with what was read: the last reference to a factory takes it again.
        factories.withLock { $0.values.map(\.factory) }.compactMap { $0 }
    }

    private func endAllLoads() {
        Exchange.endAll(liveFactories.flatMap(\.exchanges), as: .cancelled)
    }
}
