// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What using an address showed about it.
package enum AddressOutcome: Hashable, Sendable {
    /// A response that is no sign of trouble: the address works.
    case success
    /// No connection came about, so nothing was written.
    case nothingWritten
    /// 502, 503, 504, an idle timeout, or no connection before a load's deadline: trouble, of which
    /// several in a row tell something.
    case serverTrouble
    /// Nothing about the address: cancelled, out of file descriptors, broken while running.
    case neutral

    /// Reads the outcome from a response's status.
    package init(_ status: HTTPStatus) {
        switch status {
        case .badGateway, .serviceUnavailable, .gatewayTimeout: self = .serverTrouble
        default: self = .success
        }
    }

    /// Reads the outcome from a failed attempt.
    ///
    /// A certificate or pin that is wrong counts as no connection; the load ends all the same.
    package init(_ failure: TransportFailure) {
        switch failure.error {
        case .dns, .connectRefused, .connectTimeout, .tls, .certificate, .pin:
            self = .nothingWritten
        case .connectionReset, .noResponse:
            // On a connection of its own: cut in the handshake. On a kept one: it was stale.
            let isHandshake =
                failure.sent == .nothingWritten && !failure.report.reusedConnection
            self = isHandshake ? .nothingWritten : .neutral
        case .idleTimeout: self = .serverTrouble
        default: self = .neutral
        }
    }
}

/// The state of an address that has failed; one without such a state is healthy.
///
/// It is ejected for min(30 s · 2^(k−1), 300 s) the k-th time, or for other times that were set, of
/// which half is random, so that the instances of a fleet do not come back together. Then one probe
/// at a time shows whether it works.
struct AddressHealth: Sendable {
    /// How long an address is left out the first time, and at most.
    struct Ejection: Sendable {
        private static let longestSetting = Duration.seconds(86_400)

        let first: Duration
        let longest: Duration

        init(first: Duration, longest: Duration) {
            self.first = min(max(.zero, first), Self.longestSetting)
            self.longest = min(max(.zero, longest), Self.longestSetting)
        }
    }

    private static let troublesUntilEjection = 5
    /// A probe that was not heard of for so long was lost.
    private static let longestProbe = Duration.seconds(60)

    private let ejection: Ejection
    private var troubles = 0
    private var ejections = 0
    private var ejectedUntil: Instant?
    private var probedUntil: Instant?

    init(_ ejection: Ejection) {
        self.ejection = ejection
    }

    /// Whether everybody may use the address.
    var isHealthy: Bool { ejectedUntil == nil }

    /// When it is free for a probe; the past when it is or is being probed.
    var freeAt: Instant { ejectedUntil ?? Instant(nanoseconds: .min) }

    /// Whether an ejection is over and nobody probes the address.
    func needsProbe(at now: Instant) -> Bool {
        guard let ejectedUntil, ejectedUntil <= now else { return false }
        return probedUntil.map { $0 <= now } ?? true
    }

    mutating func beginProbe(at now: Instant) {
        probedUntil = now + Self.longestProbe
    }

    mutating func endProbe() {
        probedUntil = nil
    }

    /// Notes trouble, which one that was ejected may not have again.
    mutating func noteTrouble(at now: Instant, random: RandomSource) {
        troubles = min(troubles + 1, Self.troublesUntilEjection)
        guard !isHealthy || troubles == Self.troublesUntilEjection else { return }
        eject(at: now, random: random)
    }

    /// Ejects the address, once for all who were using it at that time.
    mutating func eject(at now: Instant, random: RandomSource) {
        if let ejectedUntil, ejectedUntil > now { return }
        ejections = min(ejections + 1, 16)
        ejectedUntil = now + nextEjection(random)
        probedUntil = nil
    }

    /// Ejects the address, or keeps it ejected for longer.
    mutating func prolong(at now: Instant, random: RandomSource) {
        guard let old = ejectedUntil, old > now else { return eject(at: now, random: random) }
        ejectedUntil = max(old, now + nextEjection(random))
    }

    mutating func rebase(by shift: Duration) {
        ejectedUntil = ejectedUntil.map { $0 + shift }
        probedUntil = probedUntil.map { $0 + shift }
    }

    private func nextEjection(_ random: RandomSource) -> Duration {
        let factor = 1 << max(0, ejections - 1)
        let half = (min(ejection.first * factor, ejection.longest) / 2).wholeNanoseconds
        return .nanoseconds(half + random.withGenerator { .random(in: 0...half, using: &$0) })
    }
}
