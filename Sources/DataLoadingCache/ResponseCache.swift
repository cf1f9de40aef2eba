// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
package import DataLoadingTransport
public import Foundation

/// Keeps responses, so that later requests need not ask their servers again: the private cache of
/// RFC 9111, with RFC 5861 and RFC 8246.
///
/// ```swift
/// var configuration = DataLoaderService.Configuration()
/// configuration.cache = .memory(capacity: 64 << 20)
/// ```
/// A load looks here before it asks authorisers and waits for slots, so an answer from the cache
/// costs no token, no rate and no connection. What is stored, for how long it is fresh and when it
/// is validated, the responses say themselves; `DataLoaderRequest.cachePolicy` and the request's own
/// `Cache-Control` change it for one load. Any thread may call any method.
///
/// Loads of a factory with authorisers see only what their own factory has stored. Requests of one
/// partition that carry different `Authorization` or `Cookie` fields share nothing either.
public final class ResponseCache: Sendable {
    private let store: MemoryStore
    private let counters = Locked(CacheStatistics())
    private let revalidating = Locked<Set<CacheKey>>([])
    package let heuristic: HeuristicFreshness
    /// The maximum number of bytes of a body that is kept.
    package let maxBody: Int

    private init(_ store: MemoryStore, capacity: Int, _ heuristic: HeuristicFreshness) {
        self.store = store
        self.heuristic = heuristic
        maxBody = capacity / 4
    }

    /// Makes a cache that ends with the process.
    ///
    /// `capacity` is the maximum number of bytes that are kept; default 64 MiB. A body that is
    /// larger than a quarter of it is not kept. The URL that was not used for longest leaves first.
    ///
    /// A response that does not say how long it is fresh counts as fresh for a tenth of the time
    /// since its `Last-Modified`, a day at most (RFC 9111 section 4.2.2). When its URL has a query
    /// it does so only if `guessesFreshnessOfQueries` is set; default false.
    public static func memory(
        capacity: Int = 64 << 20, guessesFreshnessOfQueries: Bool = false
    ) -> ResponseCache {
        var heuristic = HeuristicFreshness()
        heuristic.includesQueries = guessesFreshnessOfQueries
        let capacity = max(capacity, 0)
        return ResponseCache(MemoryStore(capacity: capacity), capacity: capacity, heuristic)
    }

    /// Removes every response of a URL, in all partitions.
    ///
    /// A URL that is not http or https has none.
    public func remove(_ url: URL) async {
        guard let target = try? RequestTarget(url) else { return }
        store.remove(target)
    }

    /// Removes every response.
    public func removeAll() async {
        forgetAll()
    }

    /// What the cache did so far, and what it holds now.
    public var statistics: CacheStatistics {
        var statistics = counters.withLock { $0 }
        (statistics.bytes, statistics.evicted) = store.usage
        return statistics
    }
}

/// What loads ask of the cache, and tell it.
extension ResponseCache {
    /// Decides about a request; the answer may come inline.
    package func recall(
        _ request: CacheRequest, _ key: CacheKey, at now: CacheMoment,
        _ answer: @escaping @Sendable (Recall) -> Void
    ) {
        let recall = recall(request, key, at: now)
        counters.withLock { $0.count(recall) }
        answer(recall)
    }

    private func recall(_ request: CacheRequest, _ key: CacheKey, at now: CacheMoment) -> Recall {
        // The moment before: what is removed from now on is newer than the answer to the request.
        let stamp = store.stamp
        var stored: StoredAnswer?
        let decision: CacheDecision
        switch store.find(key, request.headers) {
        case .entry(let entry):
            decision = .with(entry.response, request, at: now)
            stored = StoredAnswer(response: entry.response, body: entry.body)
        case .otherVariants: decision = .withoutEntry(request, hasOtherVariants: true)
        case .nothing: decision = .withoutEntry(request, hasOtherVariants: false)
        }
        return Recall(
            key: key, request: request, decision: decision, stored: stored, stamp: stamp)
    }

    /// Stores a whole response.
    package func keep(_ response: StoredResponse, _ body: Data, _ recall: Recall) {
        guard body.count <= maxBody else { return store.remove(recall.key.target) }
        store.store(
            MemoryStore.Entry(response: response, body: body), recall.key,
            for: recall.request.headers, since: recall.stamp)
    }

    /// Puts the fields and times of an answer without a body in the place of the stored ones.
    package func confirm(
        _ old: StoredResponse, by new: StoredResponse, _ recall: Recall
    ) {
        counters.withLock { $0.validated += 1 }
        store.update(old, by: new, recall.key, for: recall.request.headers)
    }

    /// Notes that a stored response took the place of a failure.
    package func usedOnError() {
        counters.withLock { $0.staleServed += 1 }
    }

    /// Notes that a URL is validated in a load of its own; false when it is already.
    package func beginRevalidation(_ key: CacheKey) -> Bool {
        revalidating.withLock { $0.insert(key).inserted }
    }

    package func endRevalidation(_ key: CacheKey) {
        _ = revalidating.withLock { $0.remove(key) }
    }

    /// Takes over what the answer to a HEAD says about the stored response to GET, or removes that
    /// when it would be another one now (RFC 9111 section 4.3.5).
    package func noteHead(
        _ head: ResponseHead, times: ResponseTimes, hasQuery: Bool, _ recall: Recall
    ) {
        guard let stored = recall.stored?.response else { return }
        let confirmed = stored.confirmed(
            byHead: head, to: recall.request.headers, times: times, hasQuery: hasQuery, heuristic)
        guard let confirmed else { return store.remove(recall.key.target) }
        store.update(stored, by: confirmed, recall.key, for: recall.request.headers)
    }

    /// Removes what the loads of a factory have stored for themselves.
    package func forget(_ partition: CacheKey.Partition) {
        guard partition != .shared else { return }
        store.removeAll { $0.partition == partition }
    }

    /// Removes every response.
    package func forgetAll() {
        store.removeAll()
    }

    /// Removes what an unsafe request has changed.
    package func invalidate(_ targets: [RequestTarget]) {
        for target in targets { store.remove(target) }
    }
}
