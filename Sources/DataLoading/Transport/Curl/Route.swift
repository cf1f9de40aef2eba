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

    /// One route of a `RouteTable`.
    struct Route<Member: Hashable> {
        enum Release {
            case renew
            case start(Member, RouteTable<Member>.Way)
        }

        private enum Choice {
            case http1, join, lead, wait, renew
        }

        /// The server speaks HTTP/1.1 alone, as far as is known until then.
        var http1Until = Int64.min
        /// The attempts that make a connection.
        var leaders: Set<Member> = []
        var waiters: [Member] = []
        var connections: [ConnectionName: RouteConnection] = [:]
        /// How many attempts have left an open connection since another is being made.
        private var freed = 0

        /// Whether neither attempts nor connections are there.
        var isEmpty: Bool { leaders.isEmpty && waiters.isEmpty && connections.isEmpty }

        mutating func enter(
            _ member: Member, now: Int64, maximumAge: Int64
        ) -> RouteTable<Member>.Way {
            let choice = choose(now, maximumAge)
            guard waiters.isEmpty || choice == .http1 || choice == .renew else {
                waiters.append(member)
                return .wait
            }
            switch choice {
            case .http1: return .http1
            case .renew: return .renew
            case .wait:
                waiters.append(member)
                return .wait
            case .join, .lead:
                begin(member, choice)
                return .http2
            }
        }

        /// Takes the first attempt out of the line, if it may go.
        mutating func releaseNext(now: Int64, maximumAge: Int64) -> Release? {
            guard let member = waiters.first else { return nil }
            let choice = choose(now, maximumAge)
            switch choice {
            case .wait: return nil
            case .renew: return .renew
            case .http1:
                waiters.removeFirst()
                return .start(member, .http1)
            case .join, .lead:
                waiters.removeFirst()
                begin(member, choice)
                return .start(member, .http2)
            }
        }

        mutating func leave(_ member: Member, from name: ConnectionName?) {
            waiters.removeAll { $0 == member }
            guard let name, let users = connections[name]?.users else { return }
            connections[name]?.users = max(0, users - 1)
            if !leaders.isEmpty { freed += 1 }
        }

        mutating func endHandshake(of member: Member) {
            leaders.remove(member)
            if leaders.isEmpty { freed = 0 }
        }

        mutating func retireConnections() {
            connections = [:]
            leaders = []
            freed = 0
        }

        private mutating func begin(_ member: Member, _ choice: Choice) {
            if choice == .lead {
                leaders.insert(member)
            } else if !leaders.isEmpty {
                freed -= 1
            }
        }

        private func choose(_ now: Int64, _ maximumAge: Int64) -> Choice {
            if now < http1Until { return .http1 }
            var isOpen = false
            for connection in connections.values {
                if connection.isOld(now, maximumAge) {
                    // libcurl takes no old connection that is idle, and any that is in use.
                    if connection.users > 0 { return .renew }
                } else if !connection.mayHaveEnded {
                    isOpen = true
                }
            }
            if leaders.isEmpty { return isOpen ? .join : .lead }
            // While a connection is made besides, one goes where another has ended.
            return isOpen && freed > 0 ? .join : .wait
        }
    }
#endif
