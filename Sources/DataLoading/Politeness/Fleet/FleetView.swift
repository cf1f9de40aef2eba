// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What a daemon knows of the daemons that it shares rates with, itself included.
public struct FleetView: Hashable, Sendable {
    /// The number of daemons whose heartbeat the store has received within the last 1.75 s.
    public var present: Int
    /// The number of daemons that this one has learned of within the last 30 s.
    ///
    /// It is kept in this daemon's memory, so that no daemon forgets the others when the store has
    /// lost everything. A daemon that has said goodbye is not counted.
    public var known: Int
    /// The keys that some daemon has closed, with the time for which each stays closed.
    public var gates: [QuotaKey: Duration]

    /// Makes a view.
    public init(present: Int, known: Int, gates: [QuotaKey: Duration] = [:]) {
        self.present = present
        self.known = known
        self.gates = gates
    }
}
