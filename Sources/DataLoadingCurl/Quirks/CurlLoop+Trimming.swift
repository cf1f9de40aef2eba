// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import DataLoadingSupport
    import Glibc
#else
    import Musl
#endif

// Quirk: when connections become idle, libcurl closes at most one surplus connection for each.
// After a burst more of them than the limit stay idle.
//
// Seen on: 7.88.1, 8.14.1 and 8.23.0, on each of which the test below fails without the code.
//
// Upstream: no upstream report known.
//
// Remove when this test passes without it on every supported version: `CurlIdleTests`, "no more
// connections stay idle than the limit, however many were in use".

extension CurlLoop {
    /// How long a connection is idle before it counts as surplus, in nanoseconds.
    private static let gracePeriod: Int64 = 1_000_000_000

    /// Shuts down surplus idle connections, the least recently used first.
    ///
    /// libcurl closes them when it next looks for connections that have ended.
    func trimConnections() {
        let excess = idleConnections - idle.limit
        guard excess > 0 else { return nextTrim = .max }
        if nextTrim == .max { nextTrim = now.addingSaturated(Self.gracePeriod) }
        if nextTrim <= now {
            nextTrim = now.addingSaturated(Self.gracePeriod)
            shutIdle(excess, before: now &- Self.gracePeriod)
            sweepSoon()
        }
        scheduleCheck(at: nextTrim)
    }

    private func shutIdle(_ count: Int, before instant: Int64) {
        // The connection of a paused transfer is not watched either.
        let busy = Set(running.values.compactMap(\.state.connection))
        let idle = sockets.indices.filter { index in
            let entry = sockets[index]
            guard entry.isOpenedHere, entry.wanted == 0, !entry.isShut,
                entry.lastReadable < instant,
                let owner = entry.owner, isCurrent(owner),
                let port = Self.port(Int32(index), getsockname)
            else { return false }
            let name = ConnectionName(
                localPort: port, peer: entry.peer, peerPort: entry.peerPort)
            return !busy.contains(name)
        }
        let oldest = idle.sorted { sockets[$0].lastReadable < sockets[$1].lastReadable }
        for index in oldest.prefix(count) {
            shutdown(Int32(index), Int32(SHUT_RDWR))
            sockets[index].isShut = true
            sockets[index].owner?.shutConnections += 1
        }
    }
}
