// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import CCurl

/// A multi handle: connections, and the transfers that share them.
///
/// A reset replaces it; the old one lives until its last transfer has ended.
final class CurlMulti: TransferHolder {
    let handle: OpaquePointer
    let loop: CurlLoop
    /// When, on `LoopClock.uptime`, libcurl wants to be called without an event.
    ///
    /// libcurl's timers use that clock; called too early, it would not set the timer again.
    private(set) var deadline = Int64.max
    private(set) var transfers = 0
    /// When the last of its transfers began or ended.
    private(set) var lastUse: Int64
    var nameEntries = NameEntries()
    /// The number of its connections, and how many of them the loop has shut down.
    var connections = 0
    var shutConnections = 0

    init?(for loop: CurlLoop) {
        guard let handle = ccurl_multi_init() else { return nil }
        self.handle = handle
        self.loop = loop
        lastUse = loop.now
        let context = Unmanaged.passUnretained(self).toOpaque()
        ccurl_multi_set_socket_callback(
            handle, CurlMultiOption.socketFunction, CurlCallback.socket)
        ccurl_multi_set_pointer(handle, CurlMultiOption.socketData, context)
        ccurl_multi_set_timer_callback(
            handle, CurlMultiOption.timerFunction, CurlCallback.timer)
        ccurl_multi_set_pointer(handle, CurlMultiOption.timerData, context)
        fitConnections()
    }

    func add(_ easy: OpaquePointer) -> Bool {
        guard ccurl_multi_add(handle, easy) == 0 else { return false }
        transfers += 1
        lastUse = loop.now
        fitConnections()
        return true
    }

    func remove(_ easy: OpaquePointer) {
        ccurl_multi_remove(handle, easy)
        transfers -= 1
        lastUse = loop.now
        fitConnections()
    }

    /// Runs a transfer that counts as none, as it only looks at the connections.
    func look(with easy: OpaquePointer) {
        guard ccurl_multi_add(handle, easy) == 0 else { return }
        act(CurlSignal.timeout, 0)
        ccurl_multi_remove(handle, easy)
    }

    /// Raises libcurl's limit to make room for the connections in use beside the idle ones.
    ///
    /// That limit counts both, and libcurl closes an idle connection for each one above it:
    /// with more transfers than the limit it would open a connection for nearly every transfer.
    private func fitConnections() {
        let limit = loop.idle.limit + transfers
        ccurl_multi_set_long(handle, CurlMultiOption.maximumConnections, limit)
    }

    /// The number of its connections that can still be used.
    var openConnections: Int { connections - shutConnections }

    /// The number of idle connections, if each transfer has one of its own.
    var idleConnections: Int { max(0, openConnections - transfers) }

    /// Closes every connection; no transfer may be left, and the loop must still exist.
    func close() {
        ccurl_multi_cleanup(handle)
    }

    static func from(_ context: UnsafeMutableRawPointer?) -> CurlMulti? {
        context.map { Unmanaged<CurlMulti>.fromOpaque($0).takeUnretainedValue() }
    }

    func act(_ socket: Int32, _ events: Int32) {
        var running: Int32 = 0
        ccurl_multi_action(handle, socket, events, &running)
    }

    func isDue(_ uptime: Int64) -> Bool { deadline <= uptime }

    /// Calls libcurl if its deadline has passed.
    func actIfDue(uptime: Int64) {
        guard deadline <= uptime else { return }
        deadline = .max
        act(CurlSignal.timeout, 0)
    }

    func setTimer(_ milliseconds: Int) {
        switch milliseconds {
        case ..<0: deadline = .max
        // At once, whatever the loop's own time is.
        case 0: deadline = 0
        default:
            deadline = LoopClock.instant(LoopClock.uptime, after: .milliseconds(milliseconds))
        }
    }

    func watch(_ socket: Int32, _ what: Int32, for easy: OpaquePointer?) {
        loop.watch(socket, what, for: self)
    }
}
