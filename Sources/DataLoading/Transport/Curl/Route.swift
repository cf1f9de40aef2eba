// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    /// A connection of HTTP/2 that is open as far as is known.
    struct RouteConnection {
        let opened: Int64
        /// How many attempts have sent on it and have not ended.
        var users = 0
        var mayHaveEnded = false

        init(opened: Int64) {
            self.opened = opened
        }

        func isOld(_ now: Int64, _ maximumAge: Int64) -> Bool { now &- opened >= maximumAge }
    }

    /// The times of a `RouteTable`, in nanoseconds.
    struct RouteTimes {
        /// How old a connection is at most when another attempt joins it.
        let maximumAge: Int64
        /// How long a server is taken to speak HTTP/1.1 alone.
        let memory: Int64
        /// How long the first attempt that makes a connection holds up the others.
        let leaderTime: Int64
    }

    /// One route of a `RouteTable`.
    struct Route<Member: Hashable> {
        enum Release {
            case renew
            case start(Member, RouteTable<Member>.Way)
        }

        private enum Choice {
            case http1, probe, join, lead, wait, renew
        }

        /// How many attempts make a connection at once that others may join.
        private static var mostLeaders: Int { 5 }

        /// The server speaks HTTP/1.1 alone, as far as is known until then; `.min` when nobody knows.
        private(set) var http1Until = Int64.min
        /// The server speaks HTTP/2, and wants HTTP/1.1 for something.
        private var isRequired = false
        /// The attempts that make a connection, and since when.
        private(set) var leaders: [Member: Int64] = [:]
        var waiters: [Member] = []
        var connections: [ConnectionName: RouteConnection] = [:]
        /// How many attempts have left an open connection since another is being made.
        private var freed = 0

        /// Whether neither attempts nor connections are there.
        var isEmpty: Bool { leaders.isEmpty && waiters.isEmpty && connections.isEmpty }

        /// When the next of those who wait may go, whatever becomes of those who went.
        ///
        /// A first attempt may have met with a backend that is dead, where the next one meets with
        /// another. Each holds the others up for twice as long as the one before.
        func nextLead(_ times: RouteTimes) -> Int64 {
            guard !waiters.isEmpty else { return .max }
            return nextLead(after: leaders, times)
        }

        mutating func enter(
            _ member: Member, now: Int64, _ times: RouteTimes
        ) -> RouteTable<Member>.Way {
            let choice = choose(now, times)
            switch choice {
            case .http1: return .http1
            case .renew: return .renew
            case .probe:
                // Should it find out nothing, there is time until the next one.
                http1Until = now.addingSaturated(times.memory / 10)
                return .probe
            case .join where waiters.isEmpty, .lead where waiters.isEmpty:
                begin(member, choice, now)
                return .http2
            case .wait, .join, .lead:
                waiters.append(member)
                return .wait
            }
        }

        /// Takes the first attempt out of the line, if it may go.
        mutating func releaseNext(now: Int64, _ times: RouteTimes) -> Release? {
            guard let member = waiters.first else { return nil }
            let choice = choose(now, times)
            switch choice {
            case .wait: return nil
            case .renew: return .renew
            case .http1, .probe:
                waiters.removeFirst()
                return .start(member, .http1)
            case .join, .lead:
                waiters.removeFirst()
                begin(member, choice, now)
                return .start(member, .http2)
            }
        }

        /// An attempt makes a connection.
        mutating func lead(_ member: Member, since now: Int64) {
            leaders[member] = leaders[member] ?? now
        }

        /// Takes the server to speak HTTP/1.1 alone, or for something at least.
        mutating func speaksHTTP1(until instant: Int64, isRequired: Bool = false) {
            http1Until = instant
            self.isRequired = isRequired
        }

        /// Takes the server to speak HTTP/2; what it wants HTTP/1.1 for is as before.
        mutating func speaksHTTP2() {
            if !isRequired { http1Until = .min }
        }

        /// Forgets what the server speaks.
        mutating func forget() {
            http1Until = .min
            isRequired = false
        }

        mutating func leave(_ member: Member, from name: ConnectionName?) {
            waiters.removeAll { $0 == member }
            guard let name, let users = connections[name]?.users else { return }
            connections[name]?.users = max(0, users - 1)
            if !leaders.isEmpty { freed += 1 }
        }

        mutating func endHandshake(of member: Member, isHTTP2: Bool) {
            guard leaders.removeValue(forKey: member) != nil else { return }
            // There is a connection to join: those that still make one hold nobody up.
            if isHTTP2 { leaders = [:] }
            if leaders.isEmpty { freed = 0 }
        }

        mutating func retireConnections() {
            connections = [:]
            leaders = [:]
            freed = 0
        }

        private mutating func begin(_ member: Member, _ choice: Choice, _ now: Int64) {
            if choice == .lead {
                lead(member, since: now)
            } else if !leaders.isEmpty {
                freed -= 1
            }
        }

        private func nextLead(after leaders: [Member: Int64], _ times: RouteTimes) -> Int64 {
            guard let last = leaders.values.max(), leaders.count < Self.mostLeaders else {
                return .max
            }
            let (pause, overflow) = times.leaderTime.multipliedReportingOverflow(
                by: 1 << (leaders.count - 1))
            return overflow ? .max : last.addingSaturated(pause)
        }

        private mutating func choose(_ now: Int64, _ times: RouteTimes) -> Choice {
            if now < http1Until { return .http1 }
            if isRequired { forget() }
            if http1Until != .min { return .probe }
            var isOpen = false
            for connection in connections.values {
                if connection.isOld(now, times.maximumAge) {
                    // libcurl takes no old connection that is idle, and any that is in use.
                    if connection.users > 0 { return .renew }
                } else if !connection.mayHaveEnded {
                    isOpen = true
                }
            }
            if leaders.isEmpty { return isOpen ? .join : .lead }
            // While a connection is made besides, one goes where another has ended.
            if isOpen, freed > 0 { return .join }
            return nextLead(after: leaders, times) <= now ? .lead : .wait
        }
    }
#endif
