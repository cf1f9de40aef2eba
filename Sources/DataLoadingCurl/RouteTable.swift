// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Records of https routes: the protocols of their servers, their open connections of HTTP/2,
/// and the attempts that wait for a protocol to be known.
///
/// On a route without an open connection of HTTP/2, one attempt connects first, the leader. The
/// others wait until its handshake has ended, or has lasted so long that another one leads as
/// well. Where a server has spoken HTTP/1.1, one attempt at a time probes for HTTP/2 and delays
/// no other. Routes are independent of each other.
struct RouteTable<Member: Hashable> {
    /// How an attempt is to be run.
    enum Decision: Equatable {
        case http1
        /// On the open connection, or by opening one.
        case http2
        /// On a connection of its own that offers HTTP/2 once more, unless that takes long.
        case probe
        /// Not before another attempt's handshake has ended.
        case wait
        /// A connection in use is too old: retire the connections and ask again.
        case renew
    }

    /// What to do with a waiting attempt.
    enum Release: Equatable {
        case renew
        case start(Member, RouteKey, Decision)
    }

    let times: RouteTimes
    /// The maximum number of routes without connections and attempts.
    let limit: Int
    private var routes: [RouteKey: Route<Member>] = [:]
    /// Routes that have changed for their waiting attempts.
    private var changed: [RouteKey] = []
    /// When to call `next` although nothing has happened.
    private(set) var deadline = Int64.max

    init(maximumAge: Int64, memory: Int64, leaderTime: Int64, limit: Int = 4_096) {
        times = RouteTimes(
            maximumAge: maximumAge, memory: memory, leaderTime: max(1, leaderTime))
        self.limit = max(1, limit)
    }

    /// The number of routes.
    var count: Int { routes.count }

    /// Returns the key that the attempts of a route share.
    func key(like key: RouteKey) -> RouteKey {
        routes.index(forKey: key).map { routes[$0].key } ?? key
    }

    /// Decides how a new attempt is run.
    mutating func enter(_ member: Member, _ key: RouteKey, now: Int64) -> Decision {
        if routes[key] == nil { makeRoom(now) }
        let decision = routes[key, default: Route()].enter(member, now: now, times)
        if decision == .wait { change(key) }
        return decision
    }

    /// Notes that an attempt opens a connection, although it was to join one.
    mutating func isConnecting(_ member: Member, _ key: RouteKey, now: Int64) {
        routes[key, default: Route()].lead(member, since: now)
    }

    /// Notes that an attempt's connection speaks only HTTP/1.1.
    mutating func foundHTTP1(_ member: Member, _ key: RouteKey, now: Int64) {
        routes[key, default: Route()].speaksHTTP1(until: now.addingSaturated(times.memory))
        endHandshake(member, key)
    }

    /// Notes that the server requires HTTP/1.1 for some requests.
    mutating func requiresHTTP1(_ key: RouteKey, now: Int64) {
        routes[key, default: Route()].speaksHTTP1(
            until: now.addingSaturated(times.memory), isRequired: true)
        change(key)
    }

    /// Notes that an attempt sends on a connection of HTTP/2, with its opening time if it is
    /// new; nil for one that others cannot join.
    mutating func foundHTTP2(
        _ member: Member, _ key: RouteKey, on name: ConnectionName?, opened: Int64
    ) {
        routes[key, default: Route()].speaksHTTP2()
        if let name {
            routes[key]?.connections[name, default: RouteConnection(opened: opened)].users += 1
            routes[key]?.connections[name]?.mayHaveEnded = false
        }
        endHandshake(member, key, isHTTP2: name != nil)
    }

    /// Returns whether a connection of HTTP/2 belongs to a route.
    func knows(_ name: ConnectionName, _ key: RouteKey) -> Bool {
        routes[key]?.connections[name] != nil
    }

    /// Notes that an attempt has ended at any stage, with the connection that it sent on.
    mutating func left(_ member: Member, _ key: RouteKey, from name: ConnectionName?) {
        guard routes[key] != nil else { return }
        routes[key]?.leave(member, from: name)
        endHandshake(member, key)
    }

    /// Notes that a connection is closed.
    mutating func closed(_ name: ConnectionName, _ key: RouteKey) {
        routes[key]?.connections[name] = nil
        change(key)
    }

    /// Notes that a peer may have closed a connection while no attempt used it.
    mutating func mayHaveEnded(_ name: ConnectionName, _ key: RouteKey) {
        routes[key]?.connections[name]?.mayHaveEnded = true
    }

    /// Excludes all connections from new attempts, open ones and those being opened.
    mutating func retireConnections() {
        for key in Array(routes.keys) {
            routes[key]?.retireConnections()
            change(key)
        }
    }

    /// Forgets everything except the waiting attempts.
    mutating func forget() {
        for key in Array(routes.keys) { routes[key]?.forget() }
        retireConnections()
    }

    /// Returns the next waiting attempt that may run.
    mutating func next(now: Int64) -> Release? {
        if deadline <= now {
            deadline = .max
            for (key, route) in routes where !route.waiters.isEmpty { changed.append(key) }
        }
        while let key = changed.last {
            switch routes[key]?.releaseNext(now: now, times) {
            case .start(let member, let decision): return .start(member, key, decision)
            case .renew: return .renew
            case nil:
                changed.removeLast()
                deadline = min(deadline, routes[key]?.nextLead(times) ?? .max)
            }
        }
        return nil
    }

    private mutating func endHandshake(
        _ member: Member, _ key: RouteKey, isHTTP2: Bool = false
    ) {
        routes[key]?.endHandshake(of: member, isHTTP2: isHTTP2)
        change(key)
    }

    private mutating func change(_ key: RouteKey) {
        guard let route = routes[key] else { return }
        if !route.waiters.isEmpty {
            if changed.last != key { changed.append(key) }
        } else if route.isEmpty, route.http1Until == .min {
            routes[key] = nil
        }
    }

    private mutating func makeRoom(_ now: Int64) {
        guard routes.count >= limit else { return }
        routes = routes.filter { !$0.value.isEmpty || $0.value.http1Until > now }
        let spare = routes.filter(\.value.isEmpty).sorted {
            $0.value.http1Until < $1.value.http1Until
        }
        guard routes.count >= limit else { return }
        // Half of them at once, so that this is rare.
        for (key, _) in spare.prefix((spare.count + 1) / 2) { routes[key] = nil }
    }
}
