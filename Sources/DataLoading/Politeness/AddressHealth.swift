// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// The outcome of one attempt, as far as it concerns the address it was sent to.
enum AddressOutcome: Hashable, Sendable {
    /// A response other than 502, 503 and 504: the address works.
    case success
    /// No connection was made, so nothing was written.
    case nothingWritten(AddressTrouble)
    /// 502, 503, 504, an idle timeout, or no connection or answer before a load's deadline.
    ///
    /// Five in a row eject the address.
    case serverTrouble(AddressTrouble)
    /// Nothing about the address: cancelled, out of file descriptors, broken during the transfer.
    case neutral

    /// Maps a response's status to an outcome.
    init(_ status: HTTPStatus) {
        switch status {
        case .badGateway, .serviceUnavailable, .gatewayTimeout:
            self = .serverTrouble(.status(status))
        default: self = .success
        }
    }

    /// Maps a failed attempt to an outcome.
    ///
    /// A wrong certificate or pin counts as no connection. The load still ends with the error.
    init(_ failure: TransportFailure) {
        let trouble = AddressTrouble.error(failure.error.kind.errorName)
        switch failure.error.kind {
        case .dns, .connectRefused, .connectTimeout, .tls, .certificate, .pin:
            self = .nothingWritten(trouble)
        case .connectionReset, .noResponse:
            // A new connection was cut in the handshake; a reused one was stale.
            let isHandshake =
                failure.sent == .nothingWritten && !failure.report.reusedConnection
            self = isHandshake ? .nothingWritten(trouble) : .neutral
        case .idleTimeout: self = .serverTrouble(trouble)
        default: self = .neutral
        }
    }
}

/// The state of an address that has failed; a healthy address has none.
///
/// The k-th ejection lasts min(30 s · 2^(k−1), 300 s), or as configured. Half of it is random, so
/// that the instances of a fleet do not return at the same moment. When it is over, one attempt at
/// a time probes the address.
struct AddressHealth: Sendable {
    /// The length of the first ejection and the maximum length.
    struct Ejection: Sendable {
        private static let maxSetting = Duration.seconds(86_400)

        let first: Duration
        let longest: Duration

        /// Whether the limits that were set are not those that are kept.
        let isMalformed: Bool

        init(first: Duration, longest: Duration) {
            let range = .nanoseconds(1)...Self.maxSetting
            isMalformed = !range.contains(first) || !range.contains(longest) || longest < first
            self.first = min(max(.zero, first), Self.maxSetting)
            self.longest = min(max(.zero, longest), Self.maxSetting)
        }
    }

    private static let troublesUntilEjection = 5
    /// A probe without a report for this long counts as lost.
    private static let maxProbe = Duration.seconds(60)

    private let ejection: Ejection
    private var troubles = 0
    private var ejections = 0
    private var ejectedSince: Instant?
    private var ejectedUntil: Instant?
    private var probedUntil: Instant?

    init(_ ejection: Ejection) {
        self.ejection = ejection
    }

    /// Whether any load may use the address.
    var isHealthy: Bool { ejectedUntil == nil }

    /// The instant from which a probe may use it; the distant past when it is healthy.
    var freeAt: Instant { ejectedUntil ?? Instant(nanoseconds: .min) }

    /// Whether the latest ejection began after an instant.
    func wasEjected(after instant: Instant) -> Bool { ejectedSince.map { $0 > instant } ?? false }

    /// Whether the ejection is over and no probe is under way.
    func needsProbe(at now: Instant) -> Bool {
        guard let ejectedUntil, ejectedUntil <= now else { return false }
        return probedUntil.map { $0 <= now } ?? true
    }

    /// What the address is used for now.
    func condition(at now: Instant) -> AddressState.Condition {
        guard let ejectedUntil else { return .inUse }
        if ejectedUntil > now { return .ejected }
        return probedUntil.map { $0 > now } == true ? .probing : .due
    }

    mutating func beginProbe(at now: Instant) {
        probedUntil = now + Self.maxProbe
    }

    mutating func endProbe() {
        probedUntil = nil
    }

    /// Counts trouble: ejects at the fifth in a row, or at the first since an earlier ejection.
    mutating func noteTrouble(at now: Instant, random: RandomSource) {
        troubles = min(troubles + 1, Self.troublesUntilEjection)
        guard !isHealthy || troubles == Self.troublesUntilEjection else { return }
        eject(at: now, random: random)
    }

    /// Ejects the address; failures of other attempts during the ejection do not prolong it.
    mutating func eject(at now: Instant, random: RandomSource) {
        if let ejectedUntil, ejectedUntil > now { return }
        ejections = min(ejections + 1, 16)
        ejectedSince = now
        ejectedUntil = now + nextEjection(random)
        probedUntil = nil
    }

    /// Ejects the address, or prolongs its ejection.
    mutating func prolong(at now: Instant, random: RandomSource) {
        guard let old = ejectedUntil, old > now else { return eject(at: now, random: random) }
        ejectedUntil = max(old, now + nextEjection(random))
    }

    mutating func rebase(by shift: Duration) {
        ejectedSince = ejectedSince.map { $0 + shift }
        ejectedUntil = ejectedUntil.map { $0 + shift }
        probedUntil = probedUntil.map { $0 + shift }
    }

    private func nextEjection(_ random: RandomSource) -> Duration {
        let factor = 1 << max(0, ejections - 1)
        let half = (min(ejection.first * factor, ejection.longest) / 2).wholeNanoseconds
        return .nanoseconds(half + random.withGenerator { .random(in: 0...half, using: &$0) })
    }
}
