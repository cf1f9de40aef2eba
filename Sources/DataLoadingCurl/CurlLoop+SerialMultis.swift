// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

extension CurlLoop {
    /// Returns the multi handle for an attempt over HTTP/1.1; nil when memory or descriptors are exhausted.
    func serialMulti(for transfer: CurlTransfer) -> CurlMulti? {
        let isSecure = transfer.origin?.isSecure ?? false
        if let multi = http1.take(isSecure: isSecure, for: transfer.reusablePlace) { return multi }
        // libcurl opens two descriptors for each.
        guard DescriptorReserve.hasRoom, let multi = CurlMulti(for: self) else {
            return http1.all.first
        }
        let isSecond = http1.all.count == 1
        http1.add(multi, idle: isSecond ? idlePlaces : [])
        // The first handle may have an idle connection for it, which was not noted before.
        guard isSecond else { return multi }
        return http1.take(isSecure: isSecure, for: transfer.reusablePlace) ?? multi
    }

    /// Where the connections lead that the handles for HTTP/1.1 have idle, each once.
    private var idlePlaces: [ConnectionPlace] {
        var used: [ConnectionPlace: Int] = [:]
        for transfer in running.values {
            guard case .running(let multi) = transfer.phase, http1.contains(multi),
                // One that was just begun takes an idle connection, unless it opens one.
                transfer.state.connection != nil || transfer.mayTakeConnection,
                let place = transfer.place
            else { continue }
            used[place, default: 0] += 1
        }
        return sockets.compactMap { entry in
            guard !entry.isShut, let owner = entry.owner, http1.contains(owner),
                let place = entry.place
            else { return nil }
            guard let count = used[place], count > 0 else { return place }
            used[place] = count - 1
            return nil
        }
    }

    /// Notes that a transfer was removed from its multi handle, and may have left an idle connection.
    func noteIdle(_ multi: CurlMulti, after transfer: CurlTransfer, failed: Bool) {
        // No further transfer of that handle would find its idle connections.
        guard isCurrent(multi) else { return sweepSoon() }
        guard multi !== http2, http1.isSplit, !transfer.isLocal, let place = transfer.place,
            // One that ended before it had a connection has left the one that it was sent to.
            !failed || transfer.state.connection == nil && transfer.mayTakeConnection
        else { return }
        http1.noteIdle(multi, for: place)
    }

    /// Whether a handle gets new attempts.
    func isCurrent(_ multi: CurlMulti) -> Bool { multi === http2 || http1.contains(multi) }

    /// The number of idle connections that attempts may use.
    var idleConnections: Int {
        http1.all.reduce(http2?.idleConnections ?? 0) { $0 + $1.idleConnections }
    }

    /// Retires the handles for HTTP/1.1 that were not needed for the lifetime of a connection, after many
    /// attempts have run at once.
    func retireSurplus() {
        guard http1.isSplit else { return nextRetirement = .max }
        if nextRetirement <= now {
            nextRetirement = .max
            retired += http1.removeSurplus()
            if !retired.isEmpty { sweepSoon() }
        }
        guard http1.isSplit else { return }
        if nextRetirement == .max {
            nextRetirement = LoopClock.instant(now, after: idle.lifetime)
        }
        scheduleCheck(at: nextRetirement)
    }
}

extension SerialMultis<CurlMulti, ConnectionPlace> {
    /// Whether libcurl wants to be called for one of them.
    func isDue(_ uptime: Int64) -> Bool { all.contains { $0.isDue(uptime) } }
}

extension CurlTransfer {
    /// Where the idle connections lead that it may use; nil when it has to open one.
    fileprivate var reusablePlace: ConnectionPlace? { needsNewConnection ? nil : place }

    /// Whether it may take an idle connection and has not opened one.
    fileprivate var mayTakeConnection: Bool {
        !needsNewConnection && state.routing.sockets.isEmpty
    }
}
