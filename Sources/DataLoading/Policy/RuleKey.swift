// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What a rate and a gate belong to: an origin, or the part of it below one first path component.
package struct RuleKey: Hashable, Sendable {
    /// The scheme, host and port.
    package let origin: Origin
    /// The first path component as it stands in the URL, when a rule was set for such a URL.
    package let pathComponent: Substring?

    package init(origin: Origin, pathComponent: Substring? = nil) {
        self.origin = origin
        self.pathComponent = pathComponent
    }
}

/// A change after which waiting loads may have to go earlier or later than they were told.
package enum RateChange: Hashable, Sendable {
    /// The rate or the gate of a key.
    case key(RuleKey)
    /// The first rule for a part of an origin: targets of the origin may belong to it from now on.
    case part(of: Origin)
}

/// What a limiter answers to somebody who wants to go.
package enum Reservation: Hashable, Sendable {
    /// Go now: the slot is taken.
    case granted
    /// Ask again at this instant, or when the limiter says that something changed.
    case wait(until: Instant)
    /// Ask again when the limiter says that something changed.
    case paused
}
