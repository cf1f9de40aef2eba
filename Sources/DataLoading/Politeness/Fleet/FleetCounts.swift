// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import DataLoadingSupport

/// How many daemons share, by what heartbeats have found.
///
/// A provider keeps it in memory, so that no daemon forgets the others when the store has lost
/// everything: who then takes the whole rate would take it from those who cannot tell.
package struct FleetCounts: Sendable {
    /// What a heartbeat finds in the store.
    package struct Pulse: Hashable, Sendable {
        /// The number of daemons that sent a heartbeat within `presence`.
        package var present: Int
        /// The number that did so within `length`, without those that have left.
        package var known: Int
        /// How many daemons have said goodbye since the store has counted.
        package var departures: Int64

        package init(present: Int, known: Int, departures: Int64) {
            self.present = present
            self.known = known
            self.departures = departures
        }
    }

    /// How long a daemon that sends no more heartbeats counts as known.
    package static let length = Duration.seconds(30)
    /// How long a daemon counts as present: between one heartbeat of a second and two, so that those
    /// who are back first after a store was suspended for two do not take the part of the others.
    package static let presence = Duration.milliseconds(1_750)
    /// Those of `length` at the pace of heartbeats while daemons are missing, which are the fastest.
    private static let maxSamples = 256

    private var samples: [(time: Instant, pulse: Pulse)] = []

    package init() {}

    /// The number of daemons that were present at the last heartbeat.
    package var present: Int { samples.last?.pulse.present ?? 0 }

    /// Adds what a heartbeat has found.
    ///
    /// - Parameters:
    ///   - pulse: The numbers of the store.
    ///   - isEmptied: Whether the store has lost what it knew, although it was there all the time: the
    ///     others have not had the time to be counted again.
    ///   - now: When the answer came.
    package mutating func add(_ pulse: Pulse, isEmptied: Bool = false, at now: Instant) {
        var pulse = pulse
        if isEmptied, let last = samples.last, now - last.time <= Self.presence {
            pulse.present = max(pulse.present, last.pulse.present)
        }
        samples.removeAll { now - $0.time > Self.length }
        if samples.count >= Self.maxSamples { samples.removeFirst() }
        samples.append((now, pulse))
    }

    /// The most daemons that were present at once, without those that have left since, or as many as
    /// the store knows; zero before the first heartbeat and long after the last.
    package func known(at now: Instant) -> Int {
        guard let last = samples.last, now - last.time <= Self.length else { return 0 }
        return samples.reduce(last.pulse.known) { known, sample in
            guard now - sample.time <= Self.length else { return known }
            // A store that was emptied counts departures from zero.
            let left = max(0, last.pulse.departures - sample.pulse.departures)
            return max(known, sample.pulse.present - Int(clamping: left))
        }
    }
}
