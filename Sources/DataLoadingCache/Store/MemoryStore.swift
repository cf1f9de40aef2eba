// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
package import DataLoadingTransport
package import Foundation

/// Whole responses in memory, up to a number of bytes; the URL that was not used for longest leaves
/// first.
package final class MemoryStore: Sendable {
    /// A stored response with its body.
    package struct Entry: Sendable {
        package var response: StoredResponse
        package var body: Data
        /// The file that has the response too; nil where there is none.
        var file: FileMark?

        package init(response: StoredResponse, body: Data) {
            self.init(response: response, body: body, file: nil)
        }

        init(response: StoredResponse, body: Data, file: FileMark?) {
            self.response = response
            self.body = body
            self.file = file
        }
    }

    /// What is stored for a request.
    package enum Found: Sendable {
        case entry(Entry)
        /// Nothing is stored that the request's fields choose.
        case otherVariants
        case nothing
    }

    private let state: Locked<MemoryState>

    /// - Parameter capacity: The maximum number of bytes of bodies and fields.
    package init(capacity: Int) {
        state = Locked(MemoryState(capacity: capacity))
    }

    /// The stored response that a request chooses; it counts as used.
    package func find(_ key: CacheKey, _ request: HTTPHeaders) -> Found {
        state.withLock { $0.find(key, request) }
    }

    /// The present moment, for a response that is going to be stored.
    package var stamp: Removals.Stamp { state.withLock { $0.stamp } }

    /// Stores a response in place of those that the same request would choose, unless its URL was
    /// removed since.
    package func store(
        _ entry: Entry, _ key: CacheKey, for request: HTTPHeaders, since stamp: Removals.Stamp
    ) {
        // What leaves is released after the lock.
        _ = state.withLock { $0.store(entry, key, for: request, since: stamp) }
    }

    /// Puts new fields and times in place of those of a response, if it is still there; with its
    /// new file, if that has changed.
    func update(
        _ old: StoredResponse, by new: StoredResponse, _ key: CacheKey, for request: HTTPHeaders,
        file: FileMark? = nil
    ) {
        _ = state.withLock { $0.update(old, by: new, key, for: request, file: file) }
    }

    /// Removes the response that a request chooses, if it is that of a file.
    func drop(_ file: FileMark, _ key: CacheKey, for request: HTTPHeaders) {
        _ = state.withLock { $0.drop(key, for: request) { $0.body.file == file } }
    }

    /// Removes the response that a request chooses, if it is still the same.
    func drop(_ old: StoredResponse, _ key: CacheKey, for request: HTTPHeaders) {
        _ = state.withLock { $0.drop(key, for: request) { $0.response.isSame(as: old) } }
    }

    /// Whether a URL was removed since a moment.
    func isRemoved(_ target: RequestTarget, since stamp: Removals.Stamp) -> Bool {
        state.withLock { $0.isRemoved(target, since: stamp) }
    }

    /// Removes all variants of a URL in all partitions.
    package func remove(_ target: RequestTarget) {
        _ = state.withLock { $0.removeEverywhere(target) }
    }

    /// Removes what matches.
    package func removeAll(where matches: @Sendable (CacheKey) -> Bool = { _ in true }) {
        _ = state.withLock { $0.removeAll(where: matches) }
    }

    /// The number of bytes that are stored, and of responses that had to leave for others.
    package var usage: (bytes: Int, evicted: Int) {
        state.withLock { ($0.bytes, $0.evicted) }
    }
}
