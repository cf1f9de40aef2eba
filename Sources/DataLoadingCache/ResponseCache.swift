// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import DataLoadingSupport
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
/// A cache in memory ends with the process. One on disk is there for the next process, and for others
/// that run meanwhile.
///
/// Loads of a factory with authorisers see only what their own factory has stored. Requests of one
/// partition that carry different `Authorization` or `Cookie` fields share nothing either.
public final class ResponseCache: Sendable {
    let memory: MemoryStore
    /// The files; nil for a cache that ends with the process.
    let disk: DiskStore?
    private let forwardClock = Locked(ForwardClock())
    private let counters = Locked(CacheStatistics())
    private let revalidating = Locked<Set<CachePlace>>([])
    package let heuristic: HeuristicFreshness
    /// The maximum number of bytes of a body that is kept.
    package let maxBody: Int

    init(
        _ memory: MemoryStore, _ disk: DiskStore? = nil, maxBody: Int,
        guessesFreshnessOfQueries: Bool
    ) {
        self.memory = memory
        self.disk = disk
        self.maxBody = maxBody
        var heuristic = HeuristicFreshness()
        heuristic.includesQueries = guessesFreshnessOfQueries
        self.heuristic = heuristic
    }

    /// Makes a cache that ends with the process.
    ///
    /// - Parameters:
    ///   - capacity: The maximum number of bytes that are kept; default 64 MiB. A body that is
    ///     larger than a quarter of it is not kept. The URL that was not used for longest leaves
    ///     first.
    ///   - guessesFreshnessOfQueries: Whether a response that does not say how long it is fresh
    ///     counts as fresh for a tenth of the time since its `Last-Modified`, a day at most, also
    ///     when its URL has a query; default false (RFC 9111 section 4.2.2).
    /// - Returns: The cache.
    public static func memory(
        capacity: Int = 64 << 20, guessesFreshnessOfQueries: Bool = false
    ) -> ResponseCache {
        ResponseCache(
            MemoryStore(capacity: capacity), maxBody: max(capacity, 0) / 4,
            guessesFreshnessOfQueries: guessesFreshnessOfQueries)
    }

    /// Removes every response of a URL, in all partitions.
    ///
    /// A URL that is not http or https has none.
    public func remove(_ url: URL) async {
        guard let target = try? RequestTarget(url) else { return }
        remove(target)
        await whenDone()
    }

    /// Removes every response.
    public func removeAll() async {
        _ = await forgetAll()
    }

    /// What the cache did so far, and what it holds now.
    public var statistics: CacheStatistics {
        var statistics = counters.withLock { $0 }
        (statistics.bytes, statistics.evicted) = memory.usage
        if let usage = disk?.usage {
            statistics.bytes = usage.bytes
            statistics.evicted = usage.evicted
            statistics.writeFailures = usage.writeFailures
            statistics.refusesWrites = usage.refusesWrites
        }
        return statistics
    }
}

/// What loads ask of the cache, and tell it.
extension ResponseCache {
    /// Decides about a request at the present moment; the answer comes inline, or from the queue of
    /// the files.
    package func recall(
        _ request: CacheRequest, _ key: CacheKey, at timekeeper: any Timekeeper,
        _ answer: @escaping @Sendable (Recall) -> Void
    ) {
        // The moment before: what is removed from now on is newer than the answer to the request.
        let stamp = memory.stamp
        // A request that takes nothing from here need not wait for a disk.
        guard request.mayUse, let disk = disk(for: key) else {
            let found = StoredAnswer.Found(memory.find(key, request.headers))
            return decide(request, key, found, stamp, CacheMoment(of: timekeeper), answer)
        }
        guard !disk.isSilent else {
            return decide(request, key, .nothing, stamp, CacheMoment(of: timekeeper), answer)
        }
        disk.perform { state in
            let found = self.find(key, request.headers, stamp, &state)
            let now = self.forwardClock.withLock { $0.moment(CacheMoment(of: timekeeper)) }
            self.decide(request, key, found, stamp, now, answer)
        }
    }

    private func decide(
        _ request: CacheRequest, _ key: CacheKey, _ found: StoredAnswer.Found,
        _ stamp: Removals.Stamp, _ now: CacheMoment, _ answer: (Recall) -> Void
    ) {
        var stored: StoredAnswer?
        let decision: CacheDecision
        switch found {
        case .answer(let answer):
            decision = .with(answer.response, request, at: now)
            stored = answer
        case .otherVariants: decision = .withoutEntry(request, hasOtherVariants: true)
        case .nothing: decision = .withoutEntry(request, hasOtherVariants: false)
        }
        let recall = Recall(
            key: key, request: request, decision: decision, stored: stored, moment: now,
            stamp: stamp)
        counters.withLock { $0.count(recall) }
        answer(recall)
    }

    /// Stores a whole response.
    package func keep(_ response: StoredResponse, _ body: Data, _ recall: Recall) {
        guard body.count <= maxBody else { return remove(recall.key.target) }
        guard let disk = disk(for: recall.key) else {
            return memory.store(
                MemoryStore.Entry(response: response, body: body), recall.key,
                for: recall.request.headers, since: recall.stamp)
        }
        write(response, body, recall, to: disk)
    }

    /// Puts the fields and times of an answer without a body in the place of the stored ones, or
    /// removes these when they may not stay.
    package func confirm(
        _ old: StoredResponse, by new: StoredResponse, _ recall: Recall, mayStay: Bool = true
    ) {
        counters.withLock { $0.validated += 1 }
        guard mayStay else { return remove(recall.key.target) }
        update(old, by: new, recall)
    }

    /// Notes that a stored response took the place of a failure.
    package func usedOnError() {
        counters.withLock { $0.staleServed += 1 }
    }

    /// Notes that what has a place is validated in a load of its own; false when it is already.
    package func beginRevalidation(of place: CachePlace) -> Bool {
        revalidating.withLock { $0.insert(place).inserted }
    }

    package func endRevalidation(of place: CachePlace) {
        _ = revalidating.withLock { $0.remove(place) }
    }

    /// Takes over what the answer to a HEAD says about the stored response to GET, or removes that
    /// when it would be another one now (RFC 9111 section 4.3.5), or may not stay with what it
    /// says.
    package func noteHead(
        _ head: ResponseHead, times: ResponseTimes, hasQuery: Bool, _ recall: Recall,
        authorisedFields: [String] = []
    ) {
        guard let stored = recall.stored?.response else { return }
        let confirmed = stored.confirmed(
            byHead: head, to: recall.request.headers, times: times, hasQuery: hasQuery, heuristic)
        guard let confirmed, confirmed.mayStay(authorisedFields: authorisedFields) else {
            return remove(recall.key.target)
        }
        update(stored, by: confirmed, recall)
    }

    private func update(_ old: StoredResponse, by new: StoredResponse, _ recall: Recall) {
        guard let disk = disk(for: recall.key) else {
            return memory.update(old, by: new, recall.key, for: recall.request.headers)
        }
        update(old, by: new, recall, in: disk)
    }

    /// Removes the stored response that a request has chosen, if it is still there.
    package func drop(_ recall: Recall) {
        guard let old = recall.stored?.response else { return }
        let (key, request) = (recall.key, recall.request.headers)
        guard let disk = disk(for: key) else { return memory.drop(old, key, for: request) }
        disk.perform { state in
            if let diskKey = DiskKey(key) { state.remove(old, diskKey) }
            self.memory.drop(old, key, for: request)
        }
    }

    /// Removes what the loads of a factory have stored for themselves.
    ///
    /// - Returns: Whether all is gone; a disk may take no changes.
    package func forget(_ partition: CacheKey.Partition) async -> Bool {
        guard partition != .shared else { return true }
        memory.removeAll { $0.partition == partition }
        guard let disk, let digest = DiskKey.digest(of: partition) else { return true }
        return await withCheckedContinuation { continuation in
            disk.perform { continuation.resume(returning: $0.forget(DiskKey.short(digest))) }
        }
    }

    /// Removes every response.
    ///
    /// - Returns: Whether all is gone.
    package func forgetAll() async -> Bool {
        memory.removeAll()
        guard let disk else { return true }
        return await withCheckedContinuation { continuation in
            disk.perform { continuation.resume(returning: $0.removeAll()) }
        }
    }

    /// Removes what an unsafe request has changed.
    package func invalidate(_ targets: [RequestTarget]) {
        for target in targets { remove(target) }
    }

    private func remove(_ target: RequestTarget) {
        memory.remove(target)
        disk?.remove(DiskKey.digest(of: target))
    }
}
