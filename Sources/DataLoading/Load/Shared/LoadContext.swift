// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingCache
import DataLoadingTransport
import DataLoadingSupport
import Dispatch

/// The shared state of one factory's loads: authorisers, the queue of user code, and whether loads
/// may start.
///
/// It exists as long as its factory, a loader or a load does.
final class LoadContext: Sendable {
    let runtime: Runtime
    let authorisers: [any Authoriser]
    /// The interceptors of the loads that loaders start; nil for none.
    let interceptors: InterceptorChain?
    /// Whether its loads are authorisers' own loads, which may start during a reset.
    let isBelowAuthorisers: Bool
    /// Whose responses its loads see in the cache.
    let partition: CacheKey.Partition
    /// Whether the authorisers are asked where a load is at the time, not on `queue`.
    let authorisesInPlace: Bool
    /// The loads that are sent for several.
    let carriers = CarrierTable()
    /// Runs the user code of its loads: authorisers, retry policies and redirect policies.
    ///
    /// Each factory has its own queue, so that code that blocks delays no other factory. Dispatch
    /// gives a serial queue without a target a thread whenever it has work, however busy the
    /// processor and the global queues are.
    let queue = DispatchQueue(label: "DataLoading.decisions")
    /// Limits the work that waits for `queue`.
    let backlog: Backlog
    private static let partitions = Locked<Int64>(0)
    private static let mark = DispatchSpecificKey<ObjectIdentifier>()
    private let resetGate = ResetGate()
    private let offline = Locked(false)
    private let backgroundRegistry = Locked<LoadRegistry?>(nil)
    private let registries = Locked<[ObjectIdentifier: LoadRegistry]>([:])

    init(
        _ runtime: Runtime, authorisers: [any Authoriser], interceptors: [any Interceptor] = [],
        cachePartition: String?, isBelowAuthorisers: Bool
    ) {
        self.runtime = runtime
        self.authorisers = authorisers
        self.interceptors = InterceptorChain(interceptors, runtime.limits)
        self.isBelowAuthorisers = isBelowAuthorisers
        authorisesInPlace =
            runtime.proxyAuthoriser == nil && authorisers.allSatisfy { $0.isNonblocking }
        partition =
            switch cachePartition {
            case let name?: .named(NameBytes(name))
            case nil:
                // An interceptor may say who asks, in a field that no cache knows.
                authorisers.isEmpty && interceptors.isEmpty
                    ? .shared : .unnamed(Self.partitions.next())
            }
        backlog = Backlog(of: queue, limit: runtime.limits.queue)
        queue.setSpecific(key: Self.mark, value: ObjectIdentifier(self))
        runtime.contexts.add(self)
    }

    deinit {
        runtime.contexts.forget(self)
    }

    /// Whether loads that are performed from now on use only the cache.
    var isOffline: Bool {
        get { offline.withLock { $0 } }
        set { offline.withLock { $0 = newValue } }
    }

    /// Whether the calling code runs on `queue`.
    var isOnQueue: Bool {
        DispatchQueue.getSpecific(key: Self.mark) == ObjectIdentifier(self)
    }

    /// Returns the error that keeps a load from starting; nil when it may start.
    func refusal(isForAuthoriser: Bool) -> DataLoaderError? {
        let openness = runtime.openness.withLock { $0 }
        switch openness.stage {
        case .over: return .serviceInvalidated
        case .closing where !isForAuthoriser: return .serviceInvalidated
        case .closing, .open: break
        }
        if let fault = runtime.fault { return fault }
        if isBelowAuthorisers { return nil }
        return openness.isResetting || resetGate.isResetting ? .resetInProgress : nil
    }

    /// Starts a load that gives its outcome to an end; `interception` has started a load inside.
    func start(
        _ request: DataLoaderRequest, _ end: any LoadEnd, in registry: LoadRegistry,
        isIntercepted: Bool = false, inside interception: Interception? = nil
    ) -> Load {
        // A clock of a test must not jump between a load's deadline and its first attempt.
        runtime.timekeeper.workBegan()
        defer { runtime.timekeeper.workEnded() }
        let isCounted = runtime.liveLoads.loadBegan()
        let load = Load(
            request, context: self, registry: registry, end: end,
            interceptors: isIntercepted ? interceptors : nil, inside: interception,
            isCounted: isCounted)
        // The load is listed first: a concurrent reset then finds it, or the load is refused below.
        registry.add(load)
        // The load around it was not refused. What ends that one, such as a reset, ends this one
        // too; a refusal could come first, and an interceptor turn it into an outcome.
        if let interception {
            load.begin(refusal: interception.take(load))
        } else {
            load.begin(refusal: refusal(isForAuthoriser: load.isForAuthoriser))
        }
        return load
    }

    /// The list of the loads that no loader has made.
    var background: LoadRegistry {
        backgroundRegistry.withLock { registry in
            let present = registry ?? makeRegistry()
            registry = present
            return present
        }
    }

    /// Makes the list of another loader's loads.
    func makeRegistry() -> LoadRegistry {
        let registry = LoadRegistry()
        registries.withLock { $0[ObjectIdentifier(registry)] = registry }
        return registry
    }

    func forget(_ registry: LoadRegistry) {
        // The registry is released outside the lock.
        _ = registries.withLock { $0.removeValue(forKey: ObjectIdentifier(registry)) }
    }

    /// The loads of all its loaders whose outcome is not taken yet.
    var loads: [Load] { presentRegistries.flatMap(\.loads) }

    /// The pauses of tasks of all its loaders between two loads.
    var pauses: [LoadPause] { presentRegistries.flatMap(\.pauses) }

    private var presentRegistries: [LoadRegistry] { registries.withLock { Array($0.values) } }
}

/// Resets the loads and the authorisers of a factory: a log-out.
extension LoadContext {
    /// Ends every load `.reset` and resets each authoriser once, or waits for the reset that runs.
    func reset() async -> LeftBehind {
        await resetGate.leftBehind {
            Load.endAll(loads, as: .reset)
            LoadPause.endAll(pauses, as: .reset)
            async let authorisers = authorisersNotReset()
            async let loads = loadsNotHandedOver()
            async let cache = runtime.removeStored { [partition] in await $0.forget(partition) }
            var left = LeftBehind()
            (left.authorisers, left.loads) = await (authorisers, loads)
            left.cache = await !cache
            return left
        }
    }

    /// Returns a function that waits for the reset that runs now, or performs one.
    func resetToWaitFor() -> @Sendable () async -> LeftBehind {
        guard let run = resetGate.present else { return { await self.reset() } }
        return { [resetGate] in await resetGate.leftBehind(by: run) }
    }

    /// Resets the authorisers; returns how many did not finish in time.
    private func authorisersNotReset() async -> Int {
        let timerQueue = runtime.timerQueue
        // Calls about the loads that have ended run first, unless one of them blocks the queue.
        _ = await timerQueue.wait(atMost: .seconds(1)) { [queue] in
            await withCheckedContinuation { done in queue.async { done.resume() } }
        }
        return await withTaskGroup(of: Bool.self) { group in
            for authoriser in authorisers.eachOnce {
                group.addTask {
                    await timerQueue.wait(atMost: LeftBehind.authoriserLimit) {
                        await authoriser.reset()
                    }
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 0 : 1 }
        }
    }

    /// Waits until the outcomes of the current loads are delivered; returns how many were not in
    /// time.
    private func loadsNotHandedOver() async -> Int {
        let timerQueue = runtime.timerQueue
        let deadline = timerQueue.now + LeftBehind.handOverLimit
        return await withTaskGroup(of: Int.self) { group in
            for registry in presentRegistries {
                group.addTask {
                    await registry.waitForPresentLoads(until: deadline, on: timerQueue)
                }
            }
            return await group.reduce(0, +)
        }
    }
}
