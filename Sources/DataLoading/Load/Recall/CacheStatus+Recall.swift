// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingCache

extension CacheStatus {
    /// The status of a request about which the cache is not asked, for its method.
    static let otherMethod = CacheStatus(forward: .method)

    /// The status of a load that has asked the cache; nil when it ends without any response.
    init?(asked recall: Recall) {
        guard recall.decision != .unavailable else { return nil }
        self.init(forward: recall.forward)
        // Where the cache is gone around, what is stored plays no part.
        guard forward != .bypass else { return }
        timeToLive = recall.stored?.response.remaining(at: recall.moment)
    }
}
