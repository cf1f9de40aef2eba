// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    #if canImport(Glibc)
        import Glibc
    #else
        import Musl
    #endif

    extension CurlLoop {
        /// In nanoseconds: how long a connection is idle before it counts as too many.
        private static let patience: Int64 = 1_000_000_000

        /// Shuts idle connections down that are too many, those first that were used least lately.
        ///
        /// libcurl closes no more than one for each that becomes idle. What is shut down it closes when
        /// it looks for connections that have ended.
        func trimConnections() {
            let excess = (http1?.idleConnections ?? 0) + (http2?.idleConnections ?? 0) - idle.limit
            guard excess > 0 else { return nextTrim = .max }
            if nextTrim == .max { nextTrim = now.addingSaturated(Self.patience) }
            if nextTrim <= now {
                nextTrim = now.addingSaturated(Self.patience)
                shutIdle(excess, before: now &- Self.patience)
                sweepSoon()
            }
            expect(nextTrim)
        }

        private func shutIdle(_ count: Int, before instant: Int64) {
            // A paused transfer's connection is not watched either.
            let busy = Set(running.values.compactMap(\.attempt.connection))
            let idle = sockets.indices.filter { index in
                let entry = sockets[index]
                guard entry.isOurs, entry.wanted == 0, !entry.isShut, entry.lastReadable < instant,
                    let owner = entry.owner, owner === http1 || owner === http2,
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
#endif
