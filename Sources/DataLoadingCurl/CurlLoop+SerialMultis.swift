// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

extension CurlLoop {
    /// Returns the multi handle for an attempt over HTTP/1.1; nil when memory is exhausted.
    func serialMulti(for transfer: CurlTransfer) -> CurlMulti? {
        let origin = transfer.needsNewConnection ? nil : transfer.connectedOrigin
        if let multi = http1.take(for: origin) { return multi }
        guard let multi = CurlMulti(for: self) else { return http1.all.first }
        http1.add(multi, idle: http1.all.count == 1 ? idleOrigins : [])
        return multi
    }

    /// The origins of the idle connections of the handles for HTTP/1.1.
    private var idleOrigins: [Origin] {
        sockets.compactMap { entry in
            guard entry.wanted == 0, !entry.isShut, let owner = entry.owner,
                http1.contains(owner)
            else { return nil }
            return entry.origin
        }
    }

    /// Notes that a transfer was removed from its multi handle, and may have left an idle connection.
    func noteIdle(_ multi: CurlMulti, after transfer: CurlTransfer, failed: Bool) {
        // No further transfer of that handle would find its idle connections.
        guard isCurrent(multi) else { return sweepSoon() }
        guard !failed, multi !== http2, !transfer.isLocal, let origin = transfer.connectedOrigin
        else { return }
        http1.noteIdle(multi, to: origin)
    }

    /// Whether a handle gets new attempts.
    func isCurrent(_ multi: CurlMulti) -> Bool { multi === http2 || http1.contains(multi) }

    /// The number of idle connections that attempts may use.
    var idleConnections: Int {
        http1.all.reduce(http2?.idleConnections ?? 0) { $0 + $1.idleConnections }
    }

    /// Retires the handles for HTTP/1.1 that had no transfer for the lifetime of a connection, after many
    /// attempts have run at once.
    func retireUnused() {
        guard http1.isSplit else { return nextRetirement = .max }
        if nextRetirement <= now {
            nextRetirement = .max
            retired += http1.removeUnused(since: now &- idle.lifetime.wholeNanoseconds)
        }
        guard http1.isSplit else { return }
        if nextRetirement == .max {
            nextRetirement = LoopClock.instant(now, after: idle.lifetime)
        }
        scheduleCheck(at: nextRetirement)
    }
}

extension SerialMultis<CurlMulti> {
    /// Whether libcurl wants to be called for one of them.
    func isDue(_ uptime: Int64) -> Bool { all.contains { $0.isDue(uptime) } }
}

extension CurlTransfer {
    /// The origin that its connection leads to: a proxy, unless the proxy opens a tunnel.
    fileprivate var connectedOrigin: Origin? {
        guard let proxy = task?.request.proxy, origin?.isSecure == false else { return origin }
        return proxy.origin
    }
}
