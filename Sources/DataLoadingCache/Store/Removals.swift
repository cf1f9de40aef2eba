// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// The removals so far, by which a response is told that was on its way when its URL was removed.
///
/// Such a response may be older than what the removal was for: another load has changed the
/// resource, or a user has logged out.
package struct Removals: Sendable {
    /// A moment between two removals.
    package struct Stamp: Hashable, Sendable {
        fileprivate let count: Int
    }

    private var count = 0
    /// The moment of the last removal that concerned every URL.
    private var all = 0
    private var latest: [RequestTarget: Int] = [:]

    /// The maximum number of URLs that are told apart; after more, each response that is on its way
    /// counts as removed.
    static let maxURLs = 1_024

    package init() {}

    package var stamp: Stamp { Stamp(count: count) }

    mutating func note(_ target: RequestTarget) {
        count += 1
        guard latest.count < Self.maxURLs || latest[target] != nil else { return noteAll() }
        latest[target] = count
    }

    mutating func noteAll() {
        count += 1
        all = count
        latest = [:]
    }

    /// Whether a URL was removed since a moment.
    func concern(_ target: RequestTarget, since stamp: Stamp) -> Bool {
        stamp.count < all || stamp.count < latest[target, default: 0]
    }
}
