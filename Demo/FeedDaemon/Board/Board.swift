// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// Everything that the daemon knows about its run: fed with events, shown by the views.
struct Board {
    /// What is remarkable about a run, in a form that does not grow with its length.
    struct Findings: Sendable {
        var firstFailover: (at: Duration, move: AddressWatch.Move)?
        var firstReturn: (at: Duration, move: AddressWatch.Move)?
        /// How often each feature was held back, and for how long in all.
        var gates: [String: (times: Int, length: Duration)] = [:]
        var renewedTokens = 0
        var closing: (feature: String, after: Duration)?
    }

    private(set) var names: [String]
    private(set) var tallies: [String: Tally] = [:]
    private(set) var findings = Findings()
    private let begun: ContinuousClock.Instant
    private var addresses: AddressWatch
    private var troubles = TroubleWatch()

    init(
        features: [String], addresses: [String: [String]],
        begun: ContinuousClock.Instant = .now
    ) {
        names = features
        self.addresses = AddressWatch(addresses: addresses)
        self.begun = begun
    }

    /// How long the run has lasted.
    func elapsed(at now: ContinuousClock.Instant = .now) -> Duration { now - begun }

    /// The tally of one name, empty when nothing has ended under it.
    func tally(of name: String) -> Tally { tallies[name] ?? Tally() }

    var total: Tally { tallies.values.reduce(Tally(), +) }

    /// Learns from an event; answers with what is worth a line.
    mutating func learn(_ event: Event, at now: ContinuousClock.Instant = .now) -> [Note] {
        switch event {
        case .ended(let response, let down, let up):
            return learn(response, down: down, up: up, at: now)
        case .chunk(let feature):
            tallies[feature, default: Tally()].chunks += 1
        case .note(let who, let what):
            return [note(who, what, at: now)]
        case .tokenRenewed:
            findings.renewedTokens += 1
        case .socketClosed(let feature, let time):
            findings.closing = (feature, time)
            return [note(feature, "the server saw its socket close after \(time.text)", at: now)]
        case .stop(let reason):
            return [note("daemon", "ends: \(reason); running loads may finish", at: now)]
        case .drop, .revive, .tick, .stopped:
            break
        }
        return []
    }

    /// Learns from a gate.
    mutating func learn(
        _ change: GateWatch.Change, at now: ContinuousClock.Instant = .now
    ) -> Note {
        switch change {
        case .closed(let feature, let time):
            let before = findings.gates[feature] ?? (0, .zero)
            findings.gates[feature] = (before.times + 1, before.length + time)
            return note(feature, "held back for \(time.text), as Retry-After asks", at: now)
        case .opened(let feature):
            return note(feature, "may go on", at: now)
        }
    }

    private mutating func learn(
        _ response: DataLoaderResponse, down: Int64, up: Int64, at now: ContinuousClock.Instant
    ) -> [Note] {
        let name = response.request.sourceIdentifier ?? "-"
        if !names.contains(name) { names.append(name) }
        tallies[name, default: Tally()].add(response, down: down, up: up)
        var notes: [Note] = []
        if let trouble = troubles.note(response) { notes.append(note(name, trouble, at: now)) }
        if let move = addresses.note(response, at: now) {
            remember(move, at: elapsed(at: now))
            let verb = move.isReturn ? "is back at" : "fails over to"
            notes.append(note(move.host, "\(verb) \(move.to)", at: now))
        }
        return notes
    }

    private mutating func remember(_ move: AddressWatch.Move, at time: Duration) {
        if move.isReturn {
            findings.firstReturn = findings.firstReturn ?? (time, move)
        } else {
            findings.firstFailover = findings.firstFailover ?? (time, move)
        }
    }

    private func note(_ who: String, _ what: String, at now: ContinuousClock.Instant) -> Note {
        Note(time: elapsed(at: now), who: who, what: what)
    }
}
