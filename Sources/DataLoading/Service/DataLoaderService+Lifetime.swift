// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport

extension DataLoaderService {
    /// Cancels every load; new loads may start.
    ///
    /// Loads that authorisers perform for themselves continue, because a server may already have
    /// replaced a token.
    public func cancelAllLoads() {
        let loads = runtime.contexts.loads.filter { !$0.isForAuthoriser }
        Load.endAll(loads, as: .cancelled)
        LoadPause.endAll(runtime.contexts.pauses, as: .cancelled)
    }

    /// Cancels every load immediately and closes the service.
    ///
    /// Later loads end `.serviceInvalidated`.
    public func invalidateAndCancel() {
        runtime.openness.withLock { $0.stage = .over }
        runtime.liveLoads.close()
        endAllLoads()
        if let goodbye = runtime.leaveFleet() { Task.detached { await goodbye() } }
        runtime.observers.flush()
    }

    /// Stops new loads, waits for running loads, and cancels the rest.
    ///
    /// Loads that are performed from now on end `.serviceInvalidated`. Running loads may still be
    /// authorised: a load that an authoriser performs for them, such as a token request, is
    /// allowed. The authoriser must perform it in the call that asks it, or in a task that began
    /// there, and not on a queue of its own. Renewals of credentials that are in progress are
    /// completed and saved first, if the grace period is long enough.
    ///
    /// Streams are cancelled as soon as the function is called, because they would last for the
    /// whole grace period. These are loads with the slot use `.stream`, and loads in chunks without
    /// a time limit whose response has begun and does not state a length. A load in chunks whose
    /// response begins later is cancelled then.
    ///
    /// The function returns when every outcome is delivered and every socket is closed. If a
    /// delegate queue is blocked, it waits at most 2 seconds after the grace period. It waits at
    /// most 30 seconds for the transport.
    ///
    /// - Parameter gracePeriod: The time that running loads have; zero cancels them immediately.
    /// - Returns: What the function stopped waiting for; usually empty.
    @discardableResult public func shutDown(gracePeriod: Duration) async -> LeftBehind {
        runtime.openness.withLock { if $0.stage == .open { $0.stage = .closing } }
        Load.endAll(runtime.contexts.loads.filter(\.mayStreamForEver), as: .cancelled)
        LoadPause.endAll(runtime.contexts.pauses, as: .cancelled)
        await runtime.liveLoads.waitUntilEmpty(atMost: gracePeriod)
        runtime.openness.withLock { $0.stage = .over }
        runtime.liveLoads.close()
        endAllLoads()
        await runtime.liveLoads.waitUntilEmpty(atMost: LeftBehind.handOverLimit)
        var left = LeftBehind()
        left.loads = runtime.liveLoads.live
        if let goodbye = runtime.leaveFleet() {
            _ = await runtime.timerQueue.wait(atMost: LeftBehind.goodbyeLimit, for: goodbye)
        }
        let transport = runtime.transport
        let isInTime = await runtime.timerQueue.wait(atMost: LeftBehind.transportLimit) {
            await transport.shutDown()
        }
        left.transport = !isInTime
        runtime.observers.flush()
        return left
    }

    /// Logs out: resets every factory at the same time, and then the transport.
    ///
    /// Running loads end `.reset`, and loads that are performed during the reset end
    /// `.resetInProgress`. The transport and the cache delete what they stored. A call during a reset
    /// waits for that reset.
    ///
    /// The function waits at most 2 seconds for outcomes to be delivered, 150 seconds for an
    /// authoriser and 30 seconds for the transport. A factory with a slow authoriser stays closed
    /// until its reset ends. The other factories open again after at most 5 seconds and the times of
    /// the proxy's authoriser, whose credential their authorisers may need to log out, of the transport
    /// and of the cache, 30 seconds at most.
    ///
    /// - Returns: What the function stopped waiting for; usually empty.
    @discardableResult public func reset() async -> LeftBehind {
        await resetGate.leftBehind {
            runtime.openness.withLock { $0.isResetting = true }
            let contexts = runtime.contexts.present.filter { !$0.isBelowAuthorisers }
            // All loads end first, so that no load of a user continues while another user is logged
            // out.
            Load.endAll(contexts.flatMap(\.loads), as: .reset)
            LoadPause.endAll(contexts.flatMap(\.pauses), as: .reset)
            let waits = contexts.map { $0.resetToWaitFor() }
            let resets = Task {
                await withTaskGroup(of: LeftBehind.self) { group in
                    for wait in waits { group.addTask { await wait() } }
                    return await group.reduce(into: LeftBehind()) { $0 += $1 }
                }
            }
            let timerQueue = runtime.timerQueue
            _ = await timerQueue.wait(atMost: LeftBehind.serviceLimit) { _ = await resets.value }
            let proxyAuthoriser = runtime.proxyAuthoriser
            let isProxyReset = await timerQueue.wait(atMost: LeftBehind.authoriserLimit) {
                await proxyAuthoriser?.reset()
            }
            let transport = runtime.transport
            let isInTime = await timerQueue.wait(atMost: LeftBehind.transportLimit) {
                await transport.reset()
            }
            let isRemoved = await runtime.removeStored { await $0.forgetAll() }
            runtime.openness.withLock { $0.isResetting = false }
            var left = await resets.value
            if !isProxyReset { left.authorisers += 1 }
            left.cache = left.cache || !isRemoved
            left.transport = !isInTime
            return left
        }
    }

    private func endAllLoads() {
        Load.endAll(runtime.contexts.loads, as: .cancelled)
        LoadPause.endAll(runtime.contexts.pauses, as: .cancelled)
    }
}
