// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// The addresses of each host, and the health of failed ones: the state behind a resolver's lock.
struct AddressTable: Sendable {
    let ejection: AddressHealth.Ejection
    private var names: [String: [String]] = [:]
    /// The number of hosts that list each address, so that a change need not rebuild a set of all.
    private var listings: [String: Int] = [:]
    private var health: [String: AddressHealth] = [:]
    /// What each listed address has gone through, which its health forgets.
    private var history: [String: History] = [:]

    /// The ejections of addresses that no host lists any more, should they come back: counters of
    /// them must not fall.
    private var unlisted: [String: Int64] = [:]
    private static let maxUnlisted = 1_024

    private struct History: Sendable {
        var ejections: Int64 = 0
        var lastTrouble: AddressTrouble?
    }

    init(ejection: AddressHealth.Ejection) {
        self.ejection = ejection
    }

    /// Whether no host has addresses.
    var isEmpty: Bool { names.isEmpty }

    /// Whether an outcome may change anything: a success does not while every address is healthy.
    func concerns(_ outcome: AddressOutcome) -> Bool {
        switch outcome {
        case .success, .neutral: !health.isEmpty
        case .nothingWritten, .serverTrouble: !names.isEmpty
        }
    }

    /// The number of addresses with a health record.
    var unhealthyCount: Int { health.count }

    /// Replaces a host's addresses, with its name as the last; an empty list removes the host.
    ///
    /// An address keeps its health while any host lists it.
    mutating func set(_ addresses: [String], forHost host: String, appendsName: Bool = true) {
        var seen: Set<String> = []
        var order = addresses.filter { seen.insert($0).inserted }
        if order.isEmpty || order == [host] {
            order = []
        } else if appendsName, !seen.contains(host) {
            order.append(host)
        }
        let old = names.updateValue(order, forKey: host) ?? []
        if order.isEmpty { names[host] = nil }
        for name in order {
            listings[name, default: 0] += 1
            if let ejections = unlisted.removeValue(forKey: name) {
                history[name, default: History()].ejections = ejections
            }
        }
        for name in old { unlist(name) }
    }

    /// Replaces the addresses of all hosts.
    mutating func replace(_ all: [String: (addresses: [String], appendsName: Bool)]) {
        let (known, before) = (health, history)
        for host in names.keys where all[host] == nil { set([], forHost: host) }
        for (host, new) in all { set(new.addresses, forHost: host, appendsName: new.appendsName) }
        // Of an address that has moved from one host to another too.
        health = known.filter { listings[$0.key] != nil }
        history.merge(before.filter { listings[$0.key] != nil }) { $1 }
    }

    /// The addresses of all hosts, in their order, and their health.
    func states(at now: Instant) -> [AddressState] {
        names.sorted { $0.key < $1.key }.flatMap { host, order in
            order.map { name in
                let health = health[name]
                let until = health?.freeAt ?? now
                return AddressState(
                    host: host, address: name,
                    condition: health?.condition(at: now) ?? .inUse,
                    ejectionRemaining: until > now ? until - now : nil,
                    ejections: history[name]?.ejections ?? 0,
                    lastFailure: history[name]?.lastTrouble?.text)
            }
        }
    }

    private mutating func unlist(_ name: String) {
        let left = (listings[name] ?? 1) - 1
        guard left == 0 else { return listings[name] = left }
        listings[name] = nil
        health[name] = nil
        guard let ejections = history.removeValue(forKey: name)?.ejections, ejections > 0,
            unlisted.count < Self.maxUnlisted
        else { return }
        unlisted[name] = ejections
    }

    /// The first usable address, else the one whose ejection ends first; nil when all are excluded.
    ///
    /// An address is usable when it is healthy, or due for a probe. `isProbe` says which.
    func choice(
        forHost host: String, excluding excluded: Set<String>, isProxied: Bool = false,
        at now: Instant
    ) -> (name: String, isProbe: Bool)? {
        guard var order = names[host] else { return excluded.contains(host) ? nil : (host, false) }
        if isProxied { order = Self.behindProxy(order, host) }
        var next: (name: String, freeAt: Instant)?
        for name in order where !excluded.contains(name) {
            guard let health = health[name], !health.isHealthy else { return (name, false) }
            if health.needsProbe(at: now) { return (name, true) }
            if next.map({ health.freeAt < $0.freeAt }) ?? true { next = (name, health.freeAt) }
        }
        return next.map { ($0.name, false) }
    }

    /// The candidates of a host behind a proxy: its sockets on this machine, and its name for the
    /// proxy to resolve, unless the host has nothing but sockets.
    private static func behindProxy(_ order: [String], _ host: String) -> [String] {
        let sockets = order.filter(UnixSocketAddress.isMeant)
        let isLocal = sockets.count == order.count
        return isLocal ? sockets : sockets + [host]
    }

    mutating func beginProbe(_ name: String, at now: Instant) {
        health[name]?.beginProbe(at: now)
    }

    mutating func note(
        _ outcome: AddressOutcome, of name: String, forHost host: String, begun: Instant? = nil,
        at now: Instant, random: RandomSource
    ) {
        guard let order = names[host], order.contains(name) else { return }
        // A connection that was there before the ejection shows nothing about another one.
        let isOld = begun.map { health[name]?.wasEjected(after: $0) == true } ?? false
        switch outcome {
        case .success where isOld, .neutral where isOld: break
        case .success: health[name] = nil
        case .neutral: health[name]?.endProbe()
        case .nothingWritten(let trouble):
            history[name, default: History()].lastTrouble = trouble
            change(name, at: now) { $0.eject(at: now, random: random) }
        case .serverTrouble(let trouble):
            history[name, default: History()].lastTrouble = trouble
            change(name, at: now) { $0.noteTrouble(at: now, random: random) }
        }
    }

    /// Changes the health of an address, and counts an ejection that begins.
    private mutating func change(
        _ name: String, at now: Instant, _ body: (inout AddressHealth) -> Void
    ) {
        var record = health[name] ?? AddressHealth(ejection)
        let wasEjected = record.freeAt > now
        body(&record)
        if !wasEjected, record.freeAt > now {
            history[name, default: History()].ejections.addSaturated(1)
        }
        health[name] = record
    }

    /// Ejects an address for every host that lists it.
    mutating func eject(_ name: String, at now: Instant, random: RandomSource) {
        guard listings[name] != nil else { return }
        change(name, at: now) { $0.prolong(at: now, random: random) }
    }

    mutating func rebase(by shift: Duration) {
        for name in health.keys { health[name]?.rebase(by: shift) }
    }
}
