// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

// Quirk: entries of CURLOPT_RESOLVE never expire, so that a program which loads from ever more
// hosts would keep an entry of each.
//
// Applies below 7.75, which has entries that expire
// (https://curl.se/libcurl/c/CURLOPT_RESOLVE.html); see `CurlLibrary.expiresNameEntries`. None
// of the versions in continuous integration has it.
//
// Remove with support for libcurl below 7.75: `PermanentNameEntriesTests`, "each new name
// beyond the limit removes the oldest entry".

/// The name entries of a multi handle; the oldest are removed with the lines that set new ones.
struct PermanentNameEntries {
    /// Many more than there are concurrent attempts, so that no entry in use is removed.
    static let limit = 1_024
    private var known: Set<String> = []
    private var order = FIFO<String>()

    /// Returns the lines for CURLOPT_RESOLVE that set an entry, "host:port".
    mutating func lines(_ entry: String, addresses: String) -> [String] {
        let line = entry + ":" + addresses
        guard known.insert(entry).inserted else { return [line] }
        order.append(entry)
        guard known.count > Self.limit, let oldest = order.popFirst() else { return [line] }
        known.remove(oldest)
        return ["-" + oldest, line]
    }
}
