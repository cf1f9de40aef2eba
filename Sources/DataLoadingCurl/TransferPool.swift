// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// The handles that wait for another attempt: as many as ran at once within the last minutes.
///
/// An attempt takes a handle that is set up for it where it can. Setting up another one costs more
/// than all else that an attempt does outside libcurl.
struct TransferPool {
    /// The number of handles that are always kept.
    private static let least = 64
    /// The number of handles that are looked at, from the newest.
    private static let reach = 8
    /// How long a peak counts at least, in nanoseconds.
    private static let period: Int64 = 60_000_000_000

    private var handles: [CurlTransfer] = []
    /// The largest number of attempts at once in this period and in the one before.
    private var peak = 0
    private var formerPeak = 0
    private var periodEnd = Int64.max

    /// The number of handles.
    var count: Int { handles.count }

    /// Takes a handle for an attempt, at best one that needs no other options; nil when there is
    /// none.
    mutating func take(for request: TransportRequest) -> CurlTransfer? {
        guard !handles.isEmpty else { return nil }
        let url = request.text
        // The newest is the best guess: what it has touched is still in the caches.
        var best = handles.count - 1
        var fit = CurlShape.Fit.none
        for index in handles.indices.suffix(Self.reach).reversed() {
            guard let found = handles[index].shape?.fit(of: request, url: url), found > fit else {
                continue
            }
            (best, fit) = (index, found)
            if fit == .full { break }
        }
        handles.swapAt(best, handles.count - 1)
        return handles.popLast()
    }

    /// Keeps a handle; returns the handles that are too many.
    mutating func put(_ transfer: CurlTransfer, running: Int, now: Int64) -> [CurlTransfer] {
        note(running + 1, now)
        handles.append(transfer)
        let surplus = handles.count - max(Self.least, peak, formerPeak)
        return surplus > 0 ? removeOldest(surplus) : []
    }

    private mutating func note(_ running: Int, _ now: Int64) {
        if periodEnd == .max || now >= periodEnd {
            // A period without an attempt had no peak.
            let isNext = periodEnd != .max && now &- periodEnd < Self.period
            formerPeak = isNext ? peak : 0
            peak = 0
            periodEnd = now.addingSaturated(Self.period)
        }
        peak = max(peak, running)
    }

    /// Forgets the peaks, and returns the handles that were kept because of them.
    mutating func settle() -> [CurlTransfer] {
        (peak, formerPeak) = (0, 0)
        return removeOldest(handles.count - Self.least)
    }

    /// Removes and returns all handles.
    mutating func removeAll() -> [CurlTransfer] { removeOldest(handles.count) }

    private mutating func removeOldest(_ count: Int) -> [CurlTransfer] {
        guard count > 0 else { return [] }
        defer { handles.removeFirst(count) }
        return Array(handles.prefix(count))
    }
}
