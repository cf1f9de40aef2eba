// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import CCurl
import DataLoadingSupport
import DataLoadingTransport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// What the loop knows about one descriptor.
struct SocketEntry {
    /// The multi handle that receives its events.
    var multi: CurlMulti?
    /// The events that libcurl has asked for, and those that `epoll` was told.
    var wanted: UInt32 = 0
    var registered: UInt32 = 0
    /// Incremented when a descriptor number is reused, so that stale epoll events are ignored.
    var generation: UInt32 = 0
    /// Opened by the loop's own callback, which therefore also closes it.
    var isOpenedHere = false
    /// The origin for which its connection counts as open.
    var origin: Origin?
    /// The peer's address, which the system forgets when the peer has reset the connection.
    var peer: [UInt8] = []
    var peerPort = 0
    var lastReadable: Int64 = 0
    /// The multi handle whose connection it carries.
    var owner: CurlMulti?
    /// Where that connection leads.
    var place: ConnectionPlace?
    /// Its connection, where connections are checked before they are used again.
    var name: ConnectionName?
    /// Shut down by the loop and not closed by libcurl yet.
    var isShut = false
}

extension CurlLoop {
    /// Registers the events that libcurl asks for, with as few system calls as possible.
    ///
    /// libcurl stops watching a connection at the end of each transfer and watches it again
    /// with the next one. The descriptor stays registered in between: the only event of an idle
    /// connection is mostly its end, and that event unregisters it.
    func watch(_ socket: Int32, _ what: Int32, for multi: CurlMulti) {
        guard socket >= 0 else { return }
        let index = Int(socket)
        while sockets.count <= index { sockets.append(SocketEntry()) }
        guard what != CurlSignal.removed else {
            sockets[index].wanted = 0
            sockets[index].multi = nil
            if !sockets[index].isOpenedHere { unregister(socket) }
            return
        }
        let readable = what & CurlSignal.readable != 0 ? EPOLLIN.rawValue : 0
        let writable = what & CurlSignal.writable != 0 ? EPOLLOUT.rawValue : 0
        sockets[index].wanted = readable | writable
        sockets[index].multi = multi
        register(socket)
    }

    func register(_ socket: Int32) {
        let index = Int(socket)
        let entry = sockets[index]
        guard entry.registered != entry.wanted else { return }
        var event = epoll_event(
            events: entry.wanted,
            data: epoll_data_t(u64: UInt64(entry.generation) << 32 | UInt64(socket)))
        let isNew = entry.registered == 0
        if epoll_ctl(epoll, isNew ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, &event) != 0 {
            // libcurl may change a registration before it adds one, and the kernel drops that
            // of a closed descriptor.
            epoll_ctl(epoll, isNew ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event)
        }
        sockets[index].registered = entry.wanted
    }

    private func unregister(_ socket: Int32) {
        let index = Int(socket)
        guard sockets.indices.contains(index), sockets[index].registered != 0 else { return }
        sockets[index].registered = 0
        var event = epoll_event()
        epoll_ctl(epoll, EPOLL_CTL_DEL, socket, &event)
    }

    /// The maximum wait for a deadline of the loop's own, in milliseconds.
    private static let maxWait: Int32 = 5_000
    /// The number of rounds in a row that may handle messages alone, and their longest time in
    /// nanoseconds: far below every limit by which a transfer without events is ended.
    private static let maxRoundsAwake = 16
    private static let maxTimeAwake: Int64 = 5_000_000

    /// Closes a socket for libcurl.
    ///
    /// It is unregistered first: in a child between fork and exec the descriptor would stay
    /// open, and registered under a number that is reused here.
    func closeSocket(_ socket: Int32) {
        unregister(socket)
        drainEarlyResponse(socket)
        noteClosing(socket)
        let index = Int(socket)
        if sockets.indices.contains(index) {
            if sockets[index].isOpenedHere { openSockets &-= 1 }
            sockets[index].isOpenedHere = false
            sockets[index].multi = nil
            sockets[index].wanted = 0
            sockets[index].generation &+= 1
        }
        closeDescriptor(socket)
    }

    /// Takes the events that have come or waits for some, and passes them to libcurl.
    ///
    /// A loop with several transfers mostly finds an event at once. It looks before it announces
    /// that it sleeps, so that a thread that posts in that moment makes no system call to wake it.
    ///
    /// No message is left behind by that. One that is posted before the announcement wakes no
    /// thread; `fallAsleep` sees it, since it looks into the queue after the announcement, and
    /// where the look has found an event, the loop takes all messages before it comes here again.
    /// One that is posted after the announcement finds it, and signals the event that is waited
    /// for. The look may take the signal of an earlier announcement, whose message was in the queue
    /// before it.
    func waitForEvents() {
        mailbox.figures.note(
            connections: openSockets, transfers: running.count, from: now, to: LoopClock.now)
        var count = running.count > 1 ? takeEvents(within: 0) : 0
        if count <= 0 {
            if mailbox.fallAsleep() {
                count = takeEvents(within: timeout())
                mailbox.wokeUp()
            } else {
                // Tasks may post a message in every round; events must not wait for the last one.
                roundsAwake += 1
                readClocks()
                guard
                    roundsAwake >= Self.maxRoundsAwake || now &- lastLook >= Self.maxTimeAwake
                else { return }
                count = takeEvents(within: 0)
            }
        }
        roundsAwake = 0
        readClocks()
        lastLook = now
        handleEvents(count)
        // What came before `now` is read before a limit is checked against it. After the process was
        // stopped the kernel tells of no event (signal(7): EINTR, whatever is blocked), and never of
        // more than fit; it tells of the others first.
        var looks = openSockets / events.count + 1
        while nextCheck <= now, looks > 0 {
            looks -= 1
            count = takeEvents(within: 0)
            handleEvents(count)
            guard Int(count) == events.count else { return }
        }
    }

    private func handleEvents(_ count: Int32) {
        for index in 0..<max(0, Int(count)) { handle(events[index]) }
    }

    private func takeEvents(within timeout: Int32) -> Int32 {
        epoll_wait(epoll, events.baseAddress, Int32(events.count), timeout)
    }

    /// Returns how long the loop may sleep, in milliseconds; -1 without a limit.
    ///
    /// `epoll_wait` does not count the time that the machine sleeps, so a long wait for a
    /// deadline is split.
    private func timeout() -> Int32 {
        var deadline = http2?.deadline ?? .max
        for multi in http1.all { deadline = min(deadline, multi.deadline) }
        for old in retired { deadline = min(deadline, old.deadline) }
        let own = min(nextCheck, idleDeadline, sweepDeadline, routes.deadline)
        let wait = own == .max ? .max : LoopClock.milliseconds(until: own, from: LoopClock.now)
        let timeout = min(
            deadline == .max
                ? .max : LoopClock.milliseconds(until: deadline, from: LoopClock.uptime),
            min(wait, own == .max ? .max : Self.maxWait))
        return timeout == .max ? -1 : timeout
    }

    private func handle(_ event: epoll_event) {
        let tag = event.data.u64
        let index = Int(truncatingIfNeeded: tag & 0xFFFF_FFFF)
        guard sockets.indices.contains(index),
            sockets[index].generation == UInt32(truncatingIfNeeded: tag >> 32)
        else { return }
        let socket = Int32(truncatingIfNeeded: index)
        guard let multi = sockets[index].multi, sockets[index].wanted != 0 else {
            unregister(socket)
            noteIdleEvent(socket)
            return sweepSoon()
        }
        var signals: Int32 = 0
        if event.events & (EPOLLIN.rawValue | EPOLLHUP.rawValue) != 0 {
            signals |= CurlSignal.readable
            sockets[index].lastReadable = now
        }
        if event.events & EPOLLOUT.rawValue != 0 { signals |= CurlSignal.writable }
        if event.events & EPOLLERR.rawValue != 0 { signals |= CurlSignal.failed }
        multi.act(socket, signals)
        handOnCollected()
    }

    /// Hands on the pieces of bodies that the last calls of libcurl have received.
    func handOnCollected() {
        while let transfer = collecting.popLast() { transfer.handOnCollected() }
    }
}
