// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingCache
import DataLoadingSupport
import DataLoadingTransport
import Dispatch

/// Whether a load validates what is stored, whatever its age.
enum RevalidatesStored: RequestOption {
    static let defaultValue = false
}

extension LoadContext {
    /// Validates a stored response in a load of its own, after the load that used it (RFC 5861
    /// section 3); at most one at a time for each URL.
    func revalidate(_ request: DataLoaderRequest, _ key: CacheKey) {
        guard let cache = runtime.cache, cache.beginRevalidation(key) else { return }
        var request = request
        request.chunks = false
        request.responseSink = .memory
        request.uploadProgress = nil
        request.downloadProgress = nil
        request.priority = .low
        request.timeout = nil
        request.slotUse = .shared
        request[option: RevalidatesStored.self] = true
        let end = RevalidationEnd(queue: runtime.queue) { cache.endRevalidation(key) }
        _ = start(request, end, in: background)
    }
}

/// Takes the outcome of a load that nobody waits for.
private final class RevalidationEnd: LoadEnd {
    let queue: DispatchQueue
    private let whenOver: @Sendable () -> Void

    init(queue: DispatchQueue, _ whenOver: @escaping @Sendable () -> Void) {
        self.queue = queue
        self.whenOver = whenOver
    }

    func outcomeIsReady(_ load: Load, by caller: Caller) {
        // An end from outside may announce the outcome twice; it is handed over once.
        load.handOver { _ in whenOver() }
    }
}
