// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import DataLoadingSupport

/// The daemons that a provider has heard of: they are remembered when the store forgets them.
package struct FleetMemory: Sendable {
    /// How long a daemon counts as known that is not heard of any more.
    package static let length = Duration.seconds(30)
    /// How long a daemon counts as present.
    package static let presence = Duration.milliseconds(2_500)

    private var heard: [String: Instant] = [:]

    package init() {}

    /// Notes a daemon that was alive at an instant.
    package mutating func hear(_ member: String, at instant: Instant) {
        heard[member] = max(heard[member] ?? instant, instant)
    }

    /// Forgets a daemon that has said goodbye at an instant, unless it was heard of later.
    package mutating func forget(_ member: String, leftAt instant: Instant) {
        if let last = heard[member], last <= instant { heard[member] = nil }
    }

    /// The number of daemons that are known; forgets those that were not heard of for too long.
    package mutating func known(at now: Instant) -> Int {
        heard = heard.filter { now - $0.value <= Self.length }
        return heard.count
    }
}
