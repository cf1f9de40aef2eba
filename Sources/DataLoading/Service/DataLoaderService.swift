// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import DataLoadingSupport
public import Dispatch

/// Owns what all its loads share: rate limits, fallback addresses, transport, observers.
///
/// ```swift
/// var configuration = DataLoaderService.Configuration()
/// configuration.userAgent = "feeds/1.0"
/// configuration.rateLimiter = RateLimiter(defaultRequestsPerSecond: 10)
/// configuration.retry.maximumRetryCount = 2
/// try DataLoaderService.bootstrap(configuration)
/// ```
/// The service is the application level; a process usually has one, `shared`. It makes factories,
/// one for each user or credential, and a factory makes loaders. What it owns lives as long as any
/// of its factories or loads. Any thread may call any method.
public final class DataLoaderService: Sendable {
    /// Limits the rate of requests to each server; may be changed while loads run.
    public let rateLimiter: RateLimiter
    /// Holds the fallback addresses of hosts; may be changed while loads run.
    public let resolver: HostResolver
    /// Limits how many attempts run at once; may be changed while loads run.
    public let slots: ConnectionSlots

    package let runtime: Runtime
    let resetGate = ResetGate()

    /// Makes a service; most programs use `shared` instead.
    public convenience init(configuration: Configuration = Configuration()) {
        self.init(
            configuration: configuration, timekeeper: SystemTimekeeper(), random: .system)
    }

    /// Makes a service with the clock and the random numbers of a test.
    package init(
        configuration: Configuration, timekeeper: any Timekeeper, random: RandomSource
    ) {
        runtime = Runtime(configuration, timekeeper: timekeeper, random: random)
        rateLimiter = runtime.limiter
        resolver = runtime.resolver
        slots = ConnectionSlots(runtime.admission)
    }

    /// Makes a factory whose loads ask `authorisers`, in this order, inside `interceptors`, the
    /// first of which is the outermost.
    ///
    /// Loads of all factories with one `cachePartition` see what the others have stored in the
    /// cache. With nil, the default, factories without authorisers and interceptors share what they
    /// store, and any other has a partition of its own, which ends with the process.
    public func makeFactory(
        authorisers: [any Authoriser] = [], interceptors: [any Interceptor] = [],
        cachePartition: String? = nil
    ) -> DataLoaderFactory {
        DataLoaderFactory(
            runtime, authorisers: authorisers, interceptors: interceptors,
            cachePartition: cachePartition)
    }

    /// Makes a factory for authorisers' own requests, which stays open while they are reset.
    package func makeFactoryBelowAuthorisers() -> DataLoaderFactory {
        DataLoaderFactory(runtime, authorisers: [], isBelowAuthorisers: true)
    }
}

extension DataLoaderService {
    /// Runs tasks on the transport's threads; nil for a transport that cannot, as that of Apple's
    /// platforms.
    ///
    /// ```swift
    /// let crawl = Task(executorPreference: service.taskExecutor) {
    ///     for page in pages { index(try await loader.response(for: page)) }
    /// }
    /// ```
    /// An `await` of a response resumes where the response arrived, and the next load begins there:
    /// with one loop no thread is woken, and with several none for loads of one origin in a row. In
    /// return the task must not block or compute for long, because meanwhile every transfer on that
    /// thread waits. When the transport is shut down the task continues elsewhere.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    public var taskExecutor: (any TaskExecutor)? {
        runtime.transport.first((any ExecutingTransport).self)?.taskExecutor
    }

    /// Adds an observer, which the service holds weakly.
    ///
    /// Adding an observer again changes its queue.
    public func addConsumptionObserver(
        _ observer: any ConsumptionObserver, on queue: DispatchQueue
    ) {
        runtime.observers.add(observer, on: queue)
    }

    /// Adds an observer that is called on the thread on which a load ends, and must not block.
    ///
    /// The service keeps it.
    package func addInlineObserver(_ observer: any ConsumptionObserver) {
        runtime.observers.addInline(observer)
    }

    /// The number of reports that were dropped because more than 4,096 waited for an observer's
    /// queue.
    ///
    /// The count covers all observers since the service was made. The oldest reports are dropped
    /// first.
    public var droppedConsumptionNotices: Int { runtime.observers.droppedNotices }

    /// Removes an observer; reports that already wait for its queue are still delivered.
    public func removeConsumptionObserver(_ observer: any ConsumptionObserver) {
        runtime.observers.remove(observer)
    }
}
