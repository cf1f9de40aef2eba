// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingFleet
import Foundation

/// Everything that the daemon knows about its run: events update it, the report shows it.
struct RunRecord {
    /// A line about something that happened.
    struct Note: Hashable, Sendable {
        let time: Duration
        let who: String
        let what: String

        var text: String {
            time.text(decimals: 1).padded(to: 7, onTheLeft: true) + "  " + who.padded(to: 14) + what
        }
    }

    private(set) var names: [String]
    private(set) var all = LoadCounts()
    private var counts: [String: LoadCounts] = [:]
    /// The requests per second that each feature may send, where one limit holds for all of it.
    private(set) var limits: [String: Double]
    private let begun: ContinuousClock.Instant
    private var addresses: AddressWatch
    /// What was last loaded by a request, to print a value only when it has changed.
    private var values: [String: String] = [:]
    /// Where the embedded origin was asked to continue a file.
    private var rest: Int?

    private(set) var rates: String?
    private(set) var failover: String?
    private(set) var homecoming: String?
    private(set) var resumption: String?
    private(set) var closing: String?
    private(set) var renewedTokens = 0
    /// How often each feature was held back, and for how long in all.
    private(set) var held: [String: (times: Int, length: Duration)] = [:]
    /// Nil for a daemon that shares nothing.
    private var fleet: FleetRecord?

    init(
        _ configuration: FeedConfiguration, fleet: RedisEndpoint? = nil,
        begun: ContinuousClock.Instant = .now
    ) {
        names = configuration.features.map(\.name)
        limits = configuration.limits
        addresses = AddressWatch(addresses: configuration.addresses)
        self.begun = begun
        self.fleet = fleet.map { FleetRecord(endpoint: $0) }
    }

    /// How the rates were shared until a time of the run; nil for a daemon that shares nothing.
    func sharing(until end: Duration) -> String? { fleet?.text(until: end) }

    /// How long the run has lasted.
    func elapsed(at now: ContinuousClock.Instant = .now) -> Duration { now - begun }

    /// The sums of one feature, empty while none of its loads has ended.
    func counts(of name: String) -> LoadCounts { counts[name] ?? LoadCounts() }

    /// Leaves out how rates were kept, because they have changed during the run.
    mutating func forgetLimits() { limits = [:] }

    /// Updates the record; returns what should be printed.
    mutating func learn(_ event: Event, at now: ContinuousClock.Instant = .now) -> [Note] {
        func notes(_ who: String, _ what: String) -> [Note] {
            [Note(time: elapsed(at: now), who: who, what: what)]
        }
        switch event {
        case .ended(let response, let down, let up):
            return learn(response, down: down, up: up, at: now)
        case .loaded(let request, let summary):
            let name = request.description
            guard values.updateValue(summary, forKey: name) != summary else { return [] }
            return notes(request.sourceIdentifier ?? "-", "\(request.url.path()): \(summary)")
        case .chunk(let feature):
            counts[feature, default: LoadCounts()].chunks += 1
            all.chunks += 1
        case .note(let who, let what):
            return notes(who, what)
        case .tokenRenewed:
            renewedTokens += 1
        case .resumed(let byte):
            rest = byte
            return notes("origin", "is asked for the rest of a file, from byte \(byte) on")
        case .socketClosed(let feature, let time):
            closing =
                "\(feature), during a load; the server saw its socket close after \(time.text)"
            return notes(feature, "the server saw its socket close after \(time.text)")
        case .stop(let reason):
            rates = measuredRates(over: elapsed(at: now))
            return notes("daemon", "ends: \(reason); running loads may finish")
        case .held(let feature, let time):
            let before = held[feature] ?? (0, .zero)
            held[feature] = (before.times + 1, before.length + time)
            return notes(feature, "is held back for \(time.text) by the server's Retry-After")
        case .released(let feature):
            return notes(feature, "may send again")
        case .fleet(let state):
            let time = elapsed(at: now)
            fleet?.learn(state, at: time)
            return notes("fleet", state.text)
        case .drop, .revive, .arrived, .tick, .hangup, .stopped:
            break
        }
        return []
    }

    private mutating func learn(
        _ response: DataLoaderResponse, down: Int64, up: Int64, at now: ContinuousClock.Instant
    ) -> [Note] {
        let name = response.request.sourceIdentifier ?? "-"
        let time = elapsed(at: now)
        if !names.contains(name) { names.append(name) }
        counts[name, default: LoadCounts()].add(response, down: down, up: up)
        all.add(response, down: down, up: up)
        resumption = resumption ?? rest.flatMap { response.resumption(at: $0) }
        guard let move = addresses.note(response, at: now) else { return [] }
        let text = "\(move.host) from \(move.from) to \(move.to) at \(time.text(decimals: 1))"
        if move.isReturn {
            homecoming = homecoming ?? text
        } else {
            failover = failover ?? text
        }
        let verb = move.isReturn ? "is back at" : "fails over to"
        return [Note(time: time, who: move.host, what: "\(verb) \(move.to)")]
    }
}

extension DataLoaderResponse {
    /// How a download continued after it broke; nil when it did not, or not all of it arrived once.
    fileprivate func resumption(at byte: Int) -> String? {
        guard error == nil, bodyFile != nil, metrics.retries > 0, metrics.addresses.count > 1,
            let first = metrics.addresses.first, let last = metrics.addresses.last,
            headers["Content-Length"] == String(metrics.bodyBytesReceived)
        else { return nil }
        return "\(byte) bytes from \(first), the other "
            + "\(metrics.bodyBytesReceived - Int64(byte)) from \(last), none twice"
    }
}
