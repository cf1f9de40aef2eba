// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import CCurl

    #if canImport(Glibc)
        import Glibc
    #else
        import Musl
    #endif

    /// What the loop knows about one descriptor.
    struct SocketEntry {
        /// The multi handle that wants to hear of it.
        var multi: CurlMulti?
        /// What libcurl wants to hear of, and what `epoll` was told.
        var wanted: UInt32 = 0
        var registered: UInt32 = 0
        /// Counts the sockets that had this number, so that a late event meets no stranger.
        var generation: UInt32 = 0
        /// Opened by our own callback, and so also closed by it.
        var isOurs = false
        /// Where it leads, which the system forgets when the peer has reset the connection.
        var peer: [UInt8] = []
        var peerPort = 0
        var lastReadable: Int64 = 0
        /// The multi handle that has it for a connection.
        var owner: CurlMulti?
        /// Its connection, where that is looked at before it is used again.
        var name: ConnectionName?
        /// Shut down by the loop, and not closed by libcurl yet.
        var isShut = false
    }

    extension CurlLoop {
        /// Does what libcurl asks for, with as few system calls as that takes.
        ///
        /// A connection leaves the watch at the end of each transfer and joins it again with the
        /// next one. It stays registered in between: an idle connection has no events but its end,
        /// which then takes it off.
        func watch(_ socket: Int32, _ what: Int32, for multi: CurlMulti) {
            guard socket >= 0 else { return }
            let index = Int(socket)
            while sockets.count <= index { sockets.append(SocketEntry()) }
            guard what != CurlSignal.removed else {
                sockets[index].wanted = 0
                sockets[index].multi = nil
                if !sockets[index].isOurs { unregister(socket) }
                return
            }
            let readable = what & CurlSignal.readable != 0 ? EPOLLIN.rawValue : 0
            let writable = what & CurlSignal.writable != 0 ? EPOLLOUT.rawValue : 0
            sockets[index].wanted = readable | writable
            sockets[index].multi = multi
            register(socket)
        }

        private func register(_ socket: Int32) {
            let index = Int(socket)
            let entry = sockets[index]
            guard entry.registered != entry.wanted else { return }
            var event = epoll_event(
                events: entry.wanted,
                data: epoll_data_t(u64: UInt64(entry.generation) << 32 | UInt64(socket)))
            let isNew = entry.registered == 0
            if epoll_ctl(epoll, isNew ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, &event) != 0 {
                // libcurl may change before it adds, and the kernel forgets what is closed.
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

        /// Notes a socket that was opened for libcurl, whose number another may have had before.
        ///
        /// libcurl 7.88 closes a socket that did not connect without its callback, and the kernel
        /// then forgets it. Where libcurl opens the next one before it has said that the old one is
        /// not to be watched, it says nothing at all, as the number is watched already.
        func openedSocket(_ socket: Int32, to address: UnsafeMutablePointer<ccurl_sockaddr>) {
            noteClosing(socket)
            let index = Int(socket)
            while sockets.count <= index { sockets.append(SocketEntry()) }
            sockets[index].isOurs = true
            sockets[index].peer = CurlTransfer.addressBytes(address)
            sockets[index].peerPort = CurlTransfer.port(address)
            sockets[index].lastReadable = now
            sockets[index].registered = 0
            sockets[index].generation &+= 1
            if sockets[index].wanted != 0 { register(socket) }
        }

        /// The longest wait for a deadline of our own, in milliseconds.
        private static let longestWait: Int32 = 5_000

        /// Closes a socket for libcurl.
        ///
        /// It is taken off first: in a child between fork and exec it would stay open, and
        /// registered, under a number that is used again here.
        func closeSocket(_ socket: Int32) {
            unregister(socket)
            keepLateAnswer(socket)
            noteClosing(socket)
            let index = Int(socket)
            if sockets.indices.contains(index) {
                sockets[index].isOurs = false
                sockets[index].multi = nil
                sockets[index].wanted = 0
                sockets[index].generation &+= 1
            }
            closeDescriptor(socket)
        }

        /// Sleeps until something happens, and tells libcurl what did.
        ///
        /// `epoll_wait` does not count the machine's sleep, so that a long wait for a deadline is
        /// divided.
        func waitForEvents() {
            var deadline = min(http1?.deadline ?? .max, http2?.deadline ?? .max)
            for old in retired { deadline = min(deadline, old.deadline) }
            let own = min(nextCheck, idleDeadline, sweepDeadline, routes.deadline)
            let wait = own == .max ? .max : LoopClock.milliseconds(until: own, from: LoopClock.now)
            let timeout = min(
                deadline == .max
                    ? .max : LoopClock.milliseconds(until: deadline, from: LoopClock.uptime),
                min(wait, own == .max ? .max : Self.longestWait))
            let count = epoll_wait(
                epoll, events.baseAddress, Int32(events.count), timeout == .max ? -1 : timeout)
            mailbox.wokeUp()
            readClocks()
            guard count > 0 else { return }
            for index in 0..<Int(count) { handle(events[index]) }
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
        }
    }
#endif
