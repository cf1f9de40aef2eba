// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// Follows which address of a host answers, by the metrics of loads.
struct AddressWatch: Sendable {
    /// Responses of a host come from another address than before, or from the preferred one again.
    typealias Move = (host: String, from: String, to: String, isReturn: Bool)

    /// The addresses of each host, the preferred one first.
    private let addresses: [String: [String]]
    /// The address of each host's last response, and when it first responded.
    private var uses: [String: (address: String, since: ContinuousClock.Instant?)] = [:]

    init(addresses: [String: [String]]) {
        self.addresses = addresses
    }

    /// Updates the address of a load's host; returns the move when it is another one than before.
    mutating func note(
        _ response: DataLoaderResponse, at now: ContinuousClock.Instant
    ) -> Move? {
        guard response.statusCode != nil, let host = response.request.url.host()?.lowercased(),
            let preferred = addresses[host]?.first, let used = response.metrics.addresses.last
        else { return nil }
        let last = uses[host] ?? (preferred, nil)
        guard used != last.address else { return nil }
        // A load that was sent before the last move may end after it, at the old address.
        if let since = last.since, now - response.metrics.timeUnderWay < since { return nil }
        uses[host] = (used, now)
        return (host, from: last.address, to: used, isReturn: used == preferred)
    }
}

extension LoadMetrics {
    /// The time from sending to the outcome.
    fileprivate var timeUnderWay: Duration {
        totalTime - admissionTime - authorisationTime - backOffTime
    }
}
