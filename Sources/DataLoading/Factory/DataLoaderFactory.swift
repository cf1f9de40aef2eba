// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Dispatch

/// The user level: one for each user or credential, owner of authorisation.
///
/// Its authorisers see the requests of its loaders and of no others.
public final class DataLoaderFactory: Sendable {
    let service: DataLoaderService
    let authorisers: [any Authoriser]
    /// Whether its loads are authorisers' own: they log out with them while everything is reset.
    let isBelowAuthorisers: Bool
    /// Where its loads call what users wrote: authorisers, retry policies and redirect policies.
    ///
    /// One for each factory, so that one that blocks holds up no other factory. A serial queue without
    /// a target has a thread whenever it has work, however busy the processor and the global queues are.
    let queue = DispatchQueue(label: "DataLoading.decisions")
    /// What waits for `queue`.
    let backlog: Backlog
    private static let mark = DispatchSpecificKey<ObjectIdentifier>()
    private let resetGate = ResetGate()
    private let offline = Locked(false)
    private let loaders = Locked<[ObjectIdentifier: LoaderCore]>([:])

    init(
        service: DataLoaderService, authorisers: [any Authoriser], isBelowAuthorisers: Bool = false
    ) {
        self.service = service
        self.authorisers = authorisers
        self.isBelowAuthorisers = isBelowAuthorisers
        backlog = Backlog(of: queue, limit: service.runtime.limits.queue)
        queue.setSpecific(key: Self.mark, value: ObjectIdentifier(self))
    }

    deinit {
        service.forget(ObjectIdentifier(self))
    }

    /// Whether loads that are performed from now on are answered from the cache only; default false.
    ///
    /// Without a caching transport such a load ends `.notCached`.
    public var isOffline: Bool {
        get { offline.withLock { $0 } }
        set { offline.withLock { $0 = newValue } }
    }

    /// Makes a loader, to be kept by the one feature that uses it.
    ///
    /// - Parameters:
    ///   - delegate: Who hears of the loads; held weakly.
    ///   - delegateQueue: Where the delegate is called, one call at a time even when the queue is
    ///     concurrent; nil for a private serial queue.
    /// - Returns: The loader; dropping it cancels its loads.
    public func makeDataLoader(
        delegate: (any DataLoaderDelegate)? = nil, delegateQueue: DispatchQueue? = nil
    ) -> DataLoader {
        // Serial whatever it runs on, so that a concurrent queue cannot mix up the order of calls.
        let queue = DispatchQueue(label: "DataLoading.delegate", target: delegateQueue)
        let core = LoaderCore(queue: queue, delegate: delegate)
        loaders.withLock { $0[ObjectIdentifier(core)] = core }
        return DataLoader(factory: self, core: core)
    }

    /// "Log out": ends every load `.reset` and resets each authoriser once, all at the same time.
    ///
    /// Loads that are performed meanwhile end `.resetInProgress`. Returns when every load is over and
    /// every authoriser is reset; a reset that is under way already is joined. What is blocked is
    /// waited for within limits: 2 seconds for outcomes to be handed over, 150 seconds for an
    /// authoriser.
    ///
    /// - Returns: What took longer than that, usually nothing.
    @discardableResult public func reset() async -> LeftBehind {
        await resetGate.leftBehind {
            endAllLoads(.reset)
            async let authorisers = authorisersNotReset()
            async let loads = loadsNotHandedOver()
            var left = LeftBehind()
            (left.authorisers, left.loads) = await (authorisers, loads)
            return left
        }
    }

    /// What a reset of the service has to wait for: the reset that runs now, or another one.
    func resetToWaitFor() -> @Sendable () async -> LeftBehind {
        guard let run = resetGate.present else { return { await self.reset() } }
        return { [resetGate] in await resetGate.leftBehind(by: run) }
    }

    /// Resets the authorisers; returns how many have not finished in time.
    private func authorisersNotReset() async -> Int {
        let agenda = service.runtime.agenda
        // They are told first of the loads that they held, unless one of them blocks that.
        _ = await agenda.wait(atMost: .seconds(1)) { [queue] in
            await withCheckedContinuation { done in queue.async { done.resume() } }
        }
        return await withTaskGroup(of: Bool.self) { group in
            for authoriser in authorisers.eachOnce {
                group.addTask {
                    await agenda.wait(atMost: LeftBehind.authoriserLimit) {
                        await authoriser.reset()
                    }
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 0 : 1 }
        }
    }

    /// Waits until the present loads' outcomes were handed over; returns how many were not in time.
    private func loadsNotHandedOver() async -> Int {
        let agenda = service.runtime.agenda
        let deadline = agenda.now + LeftBehind.handOverLimit
        return await withTaskGroup(of: Int.self) { group in
            for core in cores {
                group.addTask { await core.waitForPresentLoads(until: deadline, on: agenda) }
            }
            return await group.reduce(0, +)
        }
    }

    /// Whether the calling code runs on `queue`.
    var isOnQueue: Bool {
        DispatchQueue.getSpecific(key: Self.mark) == ObjectIdentifier(self)
    }

    /// Why no load may start now, nil when one may.
    func refusal(isForAuthoriser: Bool) -> DataLoaderError? {
        switch service.stage.withLock({ $0 }) {
        case .over: return .serviceInvalidated
        case .closing where !isForAuthoriser: return .serviceInvalidated
        case .closing, .open: break
        }
        if isBelowAuthorisers { return nil }
        let isResetting = service.isResetting.withLock { $0 } || resetGate.isResetting
        return isResetting ? .resetInProgress : nil
    }

    func endAllLoads(_ error: DataLoaderError) {
        Exchange.endAll(exchanges, as: error)
    }

    /// The loads of all its loaders whose outcome nobody has taken yet.
    var exchanges: [Exchange] { cores.flatMap(\.exchanges) }

    func forget(_ core: LoaderCore) {
        // The core is let go after the lock.
        _ = loaders.withLock { $0.removeValue(forKey: ObjectIdentifier(core)) }
    }

    private var cores: [LoaderCore] { loaders.withLock { Array($0.values) } }
}
