// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingCache
import DataLoadingSupport

extension Runtime {
    /// Removes what the cache has stored; false when it is not gone in the time that a transport
    /// has for its reset.
    func removeStored(_ remove: @escaping @Sendable (ResponseCache) async -> Bool) async -> Bool {
        guard let cache else { return true }
        guard cache.isOnDisk else { return await remove(cache) }
        let isGone = Locked(false)
        _ = await timerQueue.wait(atMost: LeftBehind.transportLimit) {
            let isRemoved = await remove(cache)
            isGone.withLock { $0 = isRemoved }
        }
        return isGone.withLock { $0 }
    }
}
