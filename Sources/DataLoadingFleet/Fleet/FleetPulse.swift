// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// What the script of a heartbeat answers.
struct FleetPulse: Sendable {
    let counts: FleetCounts.Pulse
    /// The server's time, in microseconds since 1970.
    let time: Int64
    /// Whether the server did not know the daemon.
    let isNew: Bool
    /// For how long keys are closed yet.
    let gates: [QuotaKey: Duration]

    init(_ reply: RESPValue) throws(FleetReplyError) {
        guard let parts = reply.elements, parts.count == 6,
            let present = parts[0].number.flatMap({ Int(exactly: $0) }),
            let known = parts[1].number.flatMap({ Int(exactly: $0) }),
            let departures = parts[2].number, let list = parts[3].elements,
            let time = parts[4].number, let new = parts[5].number,
            0 <= present, present <= known, 0 <= departures
        else { throw FleetReplyError() }
        counts = FleetCounts.Pulse(present: present, known: known, departures: departures)
        self.time = time
        isNew = new > 0
        var gates: [QuotaKey: Duration] = [:]
        for (name, rest) in zip(list, list.dropFirst()) {
            // Pairs of a name and a number; what is between two pairs has no name in front.
            guard let key = name.text.flatMap(GateName.key), let rest = rest.number, rest > 0
            else { continue }
            gates[key] = .microseconds(rest)
        }
        self.gates = gates
    }
}
