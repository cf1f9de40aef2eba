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
    private let resetGate = ResetGate()
    private let offline = Locked(false)
    private let loaders = Locked<[ObjectIdentifier: LoaderCore]>([:])

    init(
        service: DataLoaderService, authorisers: [any Authoriser], isBelowAuthorisers: Bool = false
    ) {
        self.service = service
        self.authorisers = authorisers
        self.isBelowAuthorisers = isBelowAuthorisers
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

    /// "Log out": ends every load `.reset` and resets each authoriser once.
    ///
    /// Loads that are performed meanwhile end `.resetInProgress`. Returns when every load is over and
    /// every authoriser is reset; a reset that is under way already is joined.
    public func reset() async {
        await resetGate.perform {
            endAllLoads(.reset)
            for authoriser in authorisers.eachOnce { await authoriser.reset() }
            for core in cores { await core.waitForPresentLoads() }
        }
    }

    /// Why no load may start now, nil when one may.
    var refusal: DataLoaderError? {
        switch service.stage.withLock({ $0 }) {
        case .over: return .serviceInvalidated
        case .closing where !isBelowAuthorisers: return .serviceInvalidated
        case .closing, .open: break
        }
        if isBelowAuthorisers { return nil }
        let isResetting = service.resetGate.isResetting || resetGate.isResetting
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
