// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Which origins gave no connection a moment ago, and which load found that out.
///
/// A load that has retries left need not find out the same: its attempt is spared, and its pause
/// begins at once. Otherwise a server that restarts is asked by everybody who waits, in vain, and the
/// origin's budget is gone before the server is back.
package final class Outages: Sendable {
    /// How long what one load found holds for the others: 250 ms, so that an outage of 3 s costs 12
    /// attempts, besides those that were under way.
    package static let lifetime = Duration.milliseconds(250)
    /// A peer that redirects to ever new origins must not fill the memory.
    private static let mostOrigins = 1_000

    private struct Finding: Sendable {
        let error: DataLoaderError
        let load: ObjectIdentifier
        let end: Instant
    }

    private let findings = Locked<[Origin: Finding]>([:])

    package init() {}

    /// Notes that a load got no connection to an origin, at none of its addresses.
    package func begin(
        _ origin: Origin, error: DataLoaderError, load: ObjectIdentifier, now: Instant
    ) {
        findings.withLock { findings in
            if findings.count >= Self.mostOrigins {
                findings = findings.filter { $0.value.end > now }
                if findings.count >= Self.mostOrigins { findings = [:] }
            }
            findings[origin] = Finding(error: error, load: load, end: now + Self.lifetime)
        }
    }

    /// Notes that an origin has answered.
    package func end(_ origin: Origin) {
        findings.withLock { findings in
            guard !findings.isEmpty else { return }
            findings[origin] = nil
        }
    }

    /// What another load has just met with; nil when there is reason to try.
    ///
    /// A load never stands back for itself, so that one that is alone tries as often as it may.
    package func finding(
        of origin: Origin, for load: ObjectIdentifier, now: Instant
    ) -> DataLoaderError? {
        findings.withLock { findings in
            guard !findings.isEmpty, let finding = findings[origin], finding.end > now,
                finding.load != load
            else { return nil }
            return finding.error
        }
    }

    /// Whether nothing is known of any origin, as almost always.
    package var isEmpty: Bool { findings.withLock { $0.isEmpty } }

    /// The number of origins that take memory.
    package var count: Int { findings.withLock { $0.count } }
}
