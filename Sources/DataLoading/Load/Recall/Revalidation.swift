// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingCache
import DataLoadingSupport
import DataLoadingTransport
import Dispatch

/// Whether a load validates what is stored, whatever its age.
enum RevalidatesStored: RequestOption, NeutralOption {
    static let defaultValue = false
}

extension LoadContext {
    /// Validates a stored response in a load of its own, after the load that used it (RFC 5861
    /// section 3); at most one at a time for each stored response.
    func revalidate(_ request: DataLoaderRequest, _ recall: Recall) {
        guard let cache = runtime.cache,
            let place = recall.stored.map({ CachePlace(recall.key, $0.response.variant) }),
            cache.beginRevalidation(of: place)
        else { return }
        var request = request
        request.chunks = false
        request.responseSink = .memory
        request.uploadProgress = nil
        request.downloadProgress = nil
        request.priority = .low
        request.timeout = nil
        request.slotUse = .shared
        request[option: RevalidatesStored.self] = true
        // What the caller has says nothing of what is stored; the cache adds its own conditions.
        request.headers["If-None-Match"] = nil
        request.headers["If-Modified-Since"] = nil
        let end = RevalidationEnd(queue: runtime.queue) { cache.endRevalidation(of: place) }
        _ = start(request, end, in: background)
    }
}

/// Takes the outcome of a load that no caller waits for.
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
