// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Dispatch

/// Makes loaders that share authorisers; one factory for each user or credential.
///
/// ```swift
/// let authoriser = StaticTokenAuthoriser(token: token, hosts: ["api.example.com"])
/// let factory = service.makeFactory(authorisers: [authoriser])
/// ```
/// The factory is the user level. Its authorisers receive only the requests of its own loaders. Any
/// thread may call any method.
public final class DataLoaderFactory: Sendable {
    let context: LoadContext

    init(
        _ runtime: Runtime, authorisers: [any Authoriser], interceptors: [any Interceptor] = [],
        cachePartition: String? = nil, isBelowAuthorisers: Bool = false
    ) {
        context = LoadContext(
            runtime, authorisers: authorisers, interceptors: interceptors,
            cachePartition: cachePartition, isBelowAuthorisers: isBelowAuthorisers)
    }

    /// Whether loads that are performed from now on use only the cache; default false.
    ///
    /// Such a load takes a stored response however old it is, unless the response forbids that
    /// (`no-cache`, `must-revalidate`). Without a stored response, or without a cache, it ends
    /// `.notCached`.
    public var isOffline: Bool {
        get { context.isOffline }
        set { context.isOffline = newValue }
    }

    /// Makes a loader for one feature, which should keep it.
    ///
    /// - Parameters:
    ///   - delegate: Receives the outcomes of the loads; held weakly.
    ///   - delegateQueue: Runs the calls to the delegate, one at a time even when the queue is
    ///     concurrent; nil for no queue of yours.
    ///   - delivery: Where the delegate is called; by default on your queue, and without one where it
    ///     costs least, one call at a time. Responses that are awaited, sequences, calls and
    ///     publishers are not affected.
    /// - Returns: The loader; dropping it cancels its loads.
    public func makeDataLoader(
        delegate: (any DataLoaderDelegate)? = nil, delegateQueue: DispatchQueue? = nil,
        delivery: DataLoader.Delivery = .automatic
    ) -> DataLoader {
        // Always serial, so that a concurrent target cannot reorder calls.
        let queue = DispatchQueue(label: "DataLoading.delegate", target: delegateQueue)
        return DataLoader(
            core: LoaderCore(context, queue: queue), delegate: delegate,
            delivery: delivery == .automatic && delegateQueue != nil ? .queue : delivery)
    }

    /// Logs out: ends every load `.reset` and resets each authoriser once, all at the same time.
    ///
    /// Loads that are performed during the reset end `.resetInProgress`. The function returns when
    /// every load has ended and every authoriser is reset. A call during a reset waits for that
    /// reset. The function waits at most 2 seconds for outcomes to be delivered and 150 seconds for
    /// an authoriser.
    ///
    /// - Returns: What the function stopped waiting for; usually empty.
    @discardableResult public func reset() async -> LeftBehind {
        await context.reset()
    }
}
