// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// A connection of HTTP/2 that is open as far as is known.
struct RouteConnection {
    let opened: Int64
    /// How many running attempts have sent on it.
    var users = 0
    var mayHaveEnded = false

    init(opened: Int64) {
        self.opened = opened
    }

    func isOld(_ now: Int64, _ maximumAge: Int64) -> Bool { now &- opened >= maximumAge }
}

/// The times of a `RouteTable`, in nanoseconds.
struct RouteTimes {
    /// The maximum age at which another attempt joins a connection.
    let maximumAge: Int64
    /// How long a server is treated as speaking only HTTP/1.1.
    let memory: Int64
    /// How long the first attempt that opens a connection delays the others.
    let leaderTime: Int64
}

/// One route of a `RouteTable`.
struct Route<Member: Hashable> {
    enum Release {
        case renew
        case start(Member, RouteTable<Member>.Decision)
    }

    private enum Choice {
        case http1, probe, join, lead, wait, renew
    }

    /// The maximum number of attempts that open a connection at the same time.
    private static var maxLeaders: Int { 5 }

    /// The server is treated as speaking only HTTP/1.1 until then; `.min` when its protocol is
    /// unknown.
    private(set) var http1Until = Int64.min
    /// The server speaks HTTP/2, but requires HTTP/1.1 for some requests.
    private var isRequired = false
    /// The attempts that open a connection, with the time of their start.
    private(set) var leaders: [Member: Int64] = [:]
    var waiters: [Member] = []
    var connections: [ConnectionName: RouteConnection] = [:]
    /// How many attempts have left an open connection since another is being opened.
    private var freed = 0

    /// Whether the route has neither attempts nor connections.
    var isEmpty: Bool { leaders.isEmpty && waiters.isEmpty && connections.isEmpty }

    /// When the next waiting attempt may open a connection, even if the earlier ones do not
    /// connect.
    ///
    /// A first attempt may have reached a dead backend, where the next one reaches another.
    /// Each attempt delays the others for twice as long as the one before.
    func nextLead(_ times: RouteTimes) -> Int64 {
        guard !waiters.isEmpty else { return .max }
        return nextLead(after: leaders, times)
    }

    mutating func enter(
        _ member: Member, now: Int64, _ times: RouteTimes
    ) -> RouteTable<Member>.Decision {
        let choice = choose(now, times)
        switch choice {
        case .http1: return .http1
        case .renew: return .renew
        case .probe:
            // If this probe shows nothing, the next one waits that long.
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

    /// Removes the first waiting attempt from the queue, if it may run.
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

    /// Notes that an attempt opens a connection.
    mutating func lead(_ member: Member, since now: Int64) {
        leaders[member] = leaders[member] ?? now
    }

    /// Treats the server as speaking only HTTP/1.1, or as requiring it for some requests.
    mutating func speaksHTTP1(until instant: Int64, isRequired: Bool = false) {
        http1Until = instant
        self.isRequired = isRequired
    }

    /// Treats the server as speaking HTTP/2, unless it requires HTTP/1.1 for some requests.
    mutating func speaksHTTP2() {
        if !isRequired { http1Until = .min }
    }

    /// Forgets which protocol the server speaks.
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
        // There is a connection to join, so attempts that still open one delay no other.
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
        guard let last = leaders.values.max(), leaders.count < Self.maxLeaders else {
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
                // libcurl joins no old connection that is idle, but any that is in use.
                if connection.users > 0 { return .renew }
            } else if !connection.mayHaveEnded {
                isOpen = true
            }
        }
        if leaders.isEmpty { return isOpen ? .join : .lead }
        // While another connection is being opened, one attempt may join for each that has
        // ended.
        if isOpen, freed > 0 { return .join }
        return nextLead(after: leaders, times) <= now ? .lead : .wait
    }
}
