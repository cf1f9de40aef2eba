// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// Follows which address of a host answers, from what loads say about themselves.
struct AddressWatch: Sendable {
    /// The answers of one host moved to another address.
    struct Move: Hashable, Sendable {
        let host: String
        let from: String
        let to: String
        /// Whether the new one is the preferred one again.
        let isReturn: Bool
    }

    private struct Use {
        var address: String
        /// When it was seen to answer.
        var since: ContinuousClock.Instant?
    }

    /// The addresses of each host, the preferred one first.
    private let addresses: [String: [String]]
    private var uses: [String: Use] = [:]

    init(addresses: [String: [String]]) {
        self.addresses = addresses
    }

    /// Learns from a load that ended now; answers when the host's address is another than before.
    mutating func note(
        _ response: DataLoaderResponse, at now: ContinuousClock.Instant
    ) -> Move? {
        guard response.statusCode != .none, let host = response.request.url.host()?.lowercased(),
            let preferred = addresses[host]?.first, let used = response.metrics.addresses.last
        else { return nil }
        let last = uses[host] ?? Use(address: preferred)
        guard used != last.address else { return nil }
        // What was sent before the last move was seen knew nothing of it, and may end long after it.
        if let since = last.since, now - response.metrics.timeUnderWay < since { return nil }
        uses[host] = Use(address: used, since: now)
        return Move(host: host, from: last.address, to: used, isReturn: used == preferred)
    }
}

extension LoadMetrics {
    /// The time from sending to the outcome, without what was waited for before.
    fileprivate var timeUnderWay: Duration {
        totalTime - admissionTime - authorisationTime - backOffTime
    }
}
