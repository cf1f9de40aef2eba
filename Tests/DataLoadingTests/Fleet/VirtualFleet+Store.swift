// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting

extension VirtualFleet {
    var storeNow: Double {
        1_767_225_600_000_000 + Double(now.nanoseconds) / 1_000 + shift
    }

    mutating func answer(_ call: Call, from index: Int) -> Reply {
        let time = storeNow
        let name = daemons[index].name
        switch call {
        case .lease(let request, _):
            operations += 1
            let question = QuotaLine.Question(
                request, of: name, window: .milliseconds(100),
                known: daemons[index].counts.known(at: now))
            return .lease(question.lease(from: line.answer(question, at: time)))
        case .close(let delay, _):
            operations += 1
            line.close(for: delay.inSeconds * 1e6, at: time)
            gate = max(gate, time + delay.inSeconds * 1e6)
            return .closed
        case .heartbeat:
            heartbeats += 1
            if !left.contains(name) { members[name] = time }
            members = members.filter { $0.value >= time - FleetCounts.length.inSeconds * 1e6 }
            return .heartbeat(
                FleetPulse(
                    counts: FleetCounts.Pulse(
                        present: members.values.count {
                            $0 >= time - FleetCounts.presence.inSeconds * 1e6
                        },
                        known: members.count, departures: departures),
                    gate: .saturating(seconds: max(0, gate - time) / 1e6)))
        }
    }
}
