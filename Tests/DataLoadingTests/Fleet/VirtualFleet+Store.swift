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
            let interval = 1e6 / request.requestsPerSecond
            var question = QuotaLine.Question(member: name, interval: interval, want: request.count)
            question.burst = request.burst
            question.patience = request.longestWait.map { $0.inSeconds * 1e6 }
            question.lead = request.knownLead.inSeconds * 1e6
            question.hint = daemons[index].counts.known(at: now)
            let answer = line.answer(question, at: time)
            return .lease(
                QuotaLease(
                    count: answer.granted, firstStart: .microseconds(answer.start),
                    interval: .saturating(seconds: interval / 1e6),
                    lead: .microseconds(answer.lead), gate: .microseconds(answer.gate)))
        case .close(let delay, _):
            operations += 1
            line.close(for: delay.inSeconds * 1e6, at: time)
            gate = max(gate, time + delay.inSeconds * 1e6)
            return .closed
        case .heartbeat:
            heartbeats += 1
            if !left.contains(name) { members[name] = time }
            members = members.filter { $0.value >= time - 30_000_000 }
            return .heartbeat(
                FleetPulse(
                    counts: FleetCounts.Pulse(
                        present: members.values.count { $0 >= time - 1_750_000 },
                        known: members.count, departures: departures),
                    gate: .saturating(seconds: max(0, gate - time) / 1e6)))
        }
    }
}
