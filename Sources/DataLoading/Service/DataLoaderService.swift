// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Dispatch

/// The application level: one per process, owner of politeness and of everything that is shared.
///
/// It owns the rate limiter, the resolver of fallback addresses, the transport and the consumption
/// observers. Factories are made from it, one for each user or credential, and loaders from those.
/// A service lives as long as any of its factories or loads.
public final class DataLoaderService: Sendable {
    /// How often each server is asked; may be changed while loads run.
    public let rateLimiter: RateLimiter
    /// Which addresses stand in for which host; may be changed while loads run.
    public let resolver: HostResolver

    let runtime: Runtime
    let stage = Locked(Stage.open)
    let resetGate = ResetGate()
    /// Whether no load may start because of a reset of the service.
    let isResetting = Locked(false)
    let factories = Locked<[ObjectIdentifier: WeakFactory]>([:])

    /// Makes a service; programs usually have one, `shared`.
    public convenience init(configuration: Configuration = Configuration()) {
        self.init(
            configuration: configuration, timekeeper: SystemTimekeeper(), random: .system)
    }

    /// Makes a service whose time and chance are a test's.
    package init(
        configuration: Configuration, timekeeper: any Timekeeper, random: RandomSource
    ) {
        runtime = Runtime(configuration, timekeeper: timekeeper, random: random)
        rateLimiter = runtime.limiter
        resolver = runtime.resolver
    }

    /// Makes a factory whose loads are authorised by `authorisers`, in this order.
    public func makeFactory(authorisers: [any Authoriser] = []) -> DataLoaderFactory {
        add(DataLoaderFactory(service: self, authorisers: authorisers))
    }

    /// Makes a factory for authorisers' own requests, which goes on while they are reset.
    func makeFactoryBelowAuthorisers() -> DataLoaderFactory {
        add(DataLoaderFactory(service: self, authorisers: [], isBelowAuthorisers: true))
    }

    private func add(_ factory: DataLoaderFactory) -> DataLoaderFactory {
        factories.withLock { $0[ObjectIdentifier(factory)] = WeakFactory(factory: factory) }
        return factory
    }

    func forget(_ factory: ObjectIdentifier) {
        factories.withLock { _ = $0.removeValue(forKey: factory) }
    }

    struct WeakFactory: Sendable {
        weak var factory: DataLoaderFactory?
    }
}

extension DataLoaderService {
    /// Adds an observer, held weakly, or gives one that was added another queue.
    public func addConsumptionObserver(
        _ observer: any ConsumptionObserver, on queue: DispatchQueue
    ) {
        runtime.observers.add(observer, on: queue)
    }

    /// How many notices were dropped because more than 4,096 waited for an observer's queue.
    ///
    /// Counted since the service was made, over all its observers. The oldest are dropped first.
    public var droppedConsumptionNotices: Int { runtime.observers.droppedNotices }

    /// Removes an observer; a call that is on its queue already still comes.
    public func removeConsumptionObserver(_ observer: any ConsumptionObserver) {
        runtime.observers.remove(observer)
    }
}
