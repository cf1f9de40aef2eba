// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// The scope of a rate and a gate: an origin, or the part of it below one first path component.
struct RuleKey: Hashable, Sendable {
    /// The scheme, host and port.
    let origin: Origin
    /// The first path component as in the URL, when a rule was set for such a URL.
    let pathComponent: Substring?

    init(origin: Origin, pathComponent: Substring? = nil) {
        self.origin = origin
        self.pathComponent = pathComponent
    }

    /// The key of the part of a target's origin that it is in; nil for a target without a path.
    init?(partOf target: RequestTarget) {
        guard let component = target.firstPathComponent else { return nil }
        // A copy, so that the component does not keep the text of the whole URL alive.
        self.init(origin: target.origin, pathComponent: Substring(String(component)))
    }

    /// The key of rates that were set for a path without naming one; no URL belongs to it.
    static func withoutPath(_ origin: Origin) -> RuleKey {
        RuleKey(origin: origin, pathComponent: "")
    }
}

/// A change after which waiting loads may have to start earlier or later than told.
enum RateChange: Hashable, Sendable {
    /// The rate or the gate of a key.
    case key(RuleKey)
    /// The first rule for a part of an origin: targets of the origin may now belong to it.
    case part(of: Origin)
    /// All rules; loads of certain keys may now belong to another key.
    case all(moved: Set<RuleKey>)
}

/// A limiter's answer to a load that asks for a slot.
enum Reservation: Hashable, Sendable {
    /// Start now: the slot is taken.
    case granted
    /// Ask again at this instant, or when the limiter reports a change.
    case wait(until: Instant)
    /// Ask again when the limiter reports a change.
    case paused
}
