// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    /// What is known of https routes: what their servers speak, which connections of HTTP/2 are
    /// open, and which attempts wait until one of them has found that out.
    ///
    /// A route without an open connection of HTTP/2 is tried by one attempt, its leader; the others
    /// wait until the leader's handshake has ended in whatever way, or has lasted so long that another
    /// one leads as well. Where HTTP/1.1 was spoken, one attempt at a time looks whether it still is, and
    /// holds nobody up. Routes know nothing of each other.
    struct RouteTable<Member: Hashable> {
        /// Where an attempt belongs.
        enum Way: Equatable {
            case http1
            /// To the connection that is open, or to make one.
            case http2
            /// To a connection of its own that offers HTTP/2 once more, unless that takes long.
            case probe
            /// Until another attempt's handshake has ended.
            case wait
            /// A connection in use is too old: connections are to be retired, then to be asked again.
            case renew
        }

        /// What is to be done with the attempts that wait.
        enum Release: Equatable {
            case renew
            case start(Member, RouteKey, Way)
        }

        let times: RouteTimes
        /// How many routes are kept that have neither connections nor attempts.
        let limit: Int
        private var routes: [RouteKey: Route<Member>] = [:]
        /// Those where something has changed for attempts that wait.
        private var changed: [RouteKey] = []
        /// When `next` is to be asked, though nothing has happened.
        private(set) var deadline = Int64.max

        init(maximumAge: Int64, memory: Int64, leaderTime: Int64, limit: Int = 4_096) {
            times = RouteTimes(
                maximumAge: maximumAge, memory: memory, leaderTime: max(1, leaderTime))
            self.limit = max(1, limit)
        }

        /// How many routes there are.
        var count: Int { routes.count }

        /// Says where a new attempt belongs.
        mutating func enter(_ member: Member, _ key: RouteKey, now: Int64) -> Way {
            if routes[key] == nil { makeRoom(now) }
            let way = routes[key, default: Route()].enter(member, now: now, times)
            if way == .wait { change(key) }
            return way
        }

        /// An attempt makes a connection of its own, though it was to join one.
        mutating func isConnecting(_ member: Member, _ key: RouteKey, now: Int64) {
            routes[key, default: Route()].lead(member, since: now)
        }

        /// An attempt's connection speaks HTTP/1.1 alone.
        mutating func foundHTTP1(_ member: Member, _ key: RouteKey, now: Int64) {
            routes[key, default: Route()].speaksHTTP1(until: now.addingSaturated(times.memory))
            endHandshake(member, key)
        }

        /// The server has refused something over HTTP/2 that it has over HTTP/1.1.
        mutating func requiresHTTP1(_ key: RouteKey, now: Int64) {
            routes[key, default: Route()].speaksHTTP1(
                until: now.addingSaturated(times.memory), isRequired: true)
            change(key)
        }

        /// An attempt sends on a connection of HTTP/2, opened then if it is new; nil for one that takes
        /// no others.
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

        /// Whether a connection of HTTP/2 to that route is known.
        func knows(_ name: ConnectionName, _ key: RouteKey) -> Bool {
            routes[key]?.connections[name] != nil
        }

        /// An attempt has ended, however far it was; with the connection that it sent on.
        mutating func left(_ member: Member, _ key: RouteKey, from name: ConnectionName?) {
            guard routes[key] != nil else { return }
            routes[key]?.leave(member, from: name)
            endHandshake(member, key)
        }

        /// A connection is closed.
        mutating func closed(_ name: ConnectionName, _ key: RouteKey) {
            routes[key]?.connections[name] = nil
            change(key)
        }

        /// The peer of a connection may have closed it, while no attempt used it.
        mutating func mayHaveEnded(_ name: ConnectionName, _ key: RouteKey) {
            routes[key]?.connections[name]?.mayHaveEnded = true
        }

        /// No attempt can join a connection that was made so far, nor one that is being made.
        mutating func retireConnections() {
            for key in Array(routes.keys) {
                routes[key]?.retireConnections()
                change(key)
            }
        }

        /// Forgets everything but the attempts that wait.
        mutating func forget() {
            for key in Array(routes.keys) { routes[key]?.forget() }
            retireConnections()
        }

        /// The next attempt that need not wait any longer.
        mutating func next(now: Int64) -> Release? {
            if deadline <= now {
                deadline = .max
                for (key, route) in routes where !route.waiters.isEmpty { changed.append(key) }
            }
            while let key = changed.last {
                switch routes[key]?.releaseNext(now: now, times) {
                case .start(let member, let way): return .start(member, key, way)
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
            // Half of them, so that this is done seldom.
            for (key, _) in spare.prefix((spare.count + 1) / 2) { routes[key] = nil }
        }
    }
#endif
