// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import CCurl

    #if canImport(Glibc)
        import Glibc
    #else
        import Musl
    #endif

    extension CurlLoop {
        /// Sees to it that deadlines are looked at no later than that.
        func expect(_ deadline: Int64) {
            nextCheck = min(nextCheck, deadline)
        }

        func expectActivity(_ transfer: CurlTransfer) {
            expect(deadline(of: transfer))
        }

        /// Ends the transfers whose limits have passed.
        ///
        /// No transfer has a timer, and activity only notes the time: each look finds the next
        /// instant at which a limit can pass at all, so looks are as rare as limits are long.
        func checkDeadlines() {
            guard nextCheck <= now else { return }
            var next = Int64.max
            var late: [CurlTransfer] = []
            for transfer in running.values {
                let deadline = deadline(of: transfer)
                if deadline <= now {
                    late.append(transfer)
                } else {
                    next = min(next, deadline)
                }
            }
            // Looks that follow each other closely are joined: limits are kept to 2 ms.
            nextCheck = next == .max ? .max : max(next, now &+ 2_000_000)
            // One that ends may let another go on.
            for transfer in late where deadline(of: transfer) <= now { expire(transfer) }
        }

        private func deadline(of transfer: CurlTransfer) -> Int64 {
            guard let task = transfer.task else { return .max }
            switch transfer.phase {
            case .idle: return .max
            case .preparing, .waiting: return transfer.attempt.connectDeadline
            case .resolving(let name):
                return min(
                    transfer.attempt.connectDeadline,
                    names.patienceEnds(name, since: transfer.attempt.lookupStart, now: now))
            case .running: break
            }
            transfer.noteUnseenSend()
            if transfer.attempt.sends == 0 {
                let limit = min(transfer.attempt.connectDeadline, probeEnds(transfer))
                // Nothing tells of an unseen send, which is to be seen before the idle limit can pass.
                return library.seesSends
                    ? limit : min(limit, now.addingSaturated(transfer.attempt.idleLimit))
            }
            guard !task.isPaused else { return .max }
            let (deadline, overflow) = transfer.attempt.lastActivity.addingReportingOverflow(
                transfer.attempt.idleLimit)
            return overflow ? .max : deadline
        }

        private func expire(_ transfer: CurlTransfer) {
            switch transfer.phase {
            case .preparing:
                let waits = transfer.attempt.feed?.waitsForReader == true
                finish(
                    transfer,
                    waits
                        ? BodyReaders.refusal
                        : .requestBody(reason: "no byte of it within the connect limit"))
            case .resolving(let name): resolveWithoutAnswer(transfer, name)
            case .waiting: finish(transfer, .connectTimeout)
            case .running where transfer.attempt.sends == 0:
                guard now < transfer.attempt.connectDeadline else {
                    return finish(transfer, .connectTimeout)
                }
                if mayLeaveProbe(transfer) { endProbe(transfer) } else { expectActivity(transfer) }
            case .running:
                let socket = socket(of: transfer)
                guard !isDraining(transfer, socket) else { return expectActivity(transfer) }
                let generation = socket.map { sockets[Int($0)].generation }
                let isUpload = transfer.task?.request.body != nil
                finish(transfer, .idleTimeout)
                if let socket, generation == sockets[Int(socket)].generation {
                    giveUp(socket, isUpload: isUpload)
                }
            default: break
            }
        }

        /// Whether the peer has taken bytes since the limit last passed, out of the kernel's buffer,
        /// where libcurl cannot see them go.
        private func isDraining(_ transfer: CurlTransfer, _ socket: Int32?) -> Bool {
            guard transfer.task?.request.body != nil, let socket else { return false }
            let left = ccurl_unacknowledged(socket)
            defer { transfer.attempt.unacknowledged = left }
            guard left >= 0, left != transfer.attempt.unacknowledged else { return false }
            transfer.attempt.lastActivity = now
            return true
        }

        /// Shuts a connection down that outlived its transfer, if it is silent as a whole.
        ///
        /// That is one of HTTP/2, which would swallow every later load. libcurl then sees it end,
        /// for the streams that share it too.
        ///
        /// One that others hear from, while an upload on it got nowhere, is left to those, and no later
        /// load joins it. Where a server does not count what it drops of a body, no window opens on that
        /// connection any more (haproxy 2.6.12), and every later upload would be swallowed.
        private func giveUp(_ socket: Int32, isUpload: Bool) {
            let entry = sockets[Int(socket)]
            if now &- entry.lastReadable >= 1_000_000_000 {
                shutdown(socket, Int32(SHUT_RDWR))
            } else if isUpload, http2Sockets[socket] != nil, entry.owner === http2 {
                retireHTTP2()
            }
        }

        /// The descriptor of a transfer's connection, by its ports and its peer.
        ///
        /// libcurl 7.88 tells CURLINFO_ACTIVESOCKET only once the transfer is over. The system gives
        /// one port to connections of several peers.
        private func socket(of transfer: CurlTransfer) -> Int32? {
            let local = transfer.long(CurlInfo.localPort)
            let remote = transfer.long(CurlInfo.remotePort)
            let peer = transfer.peerAddress
            let index = sockets.indices.first { index in
                sockets[index].isOurs
                    && Self.connects(Int32(index), from: local, to: peer, remote)
            }
            return index.map { Int32($0) }
        }

        /// Whether a socket leads from a port to an address' port.
        static func connects(
            _ socket: Int32, from local: Int, to address: [UInt8], _ remote: Int
        ) -> Bool {
            port(socket, getsockname) == local && port(socket, getpeername) == remote
                && CurlTransfer.peerAddress(of: socket) == address
        }

        static func port(
            _ socket: Int32,
            _ read: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) ->
                Int32
        ) -> Int? {
            var address = sockaddr_in6()
            var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
            let result = withUnsafeMutableBytes(of: &address) { bytes in
                bytes.withMemoryRebound(to: sockaddr.self) { addresses in
                    addresses.baseAddress.map { read(socket, $0, &length) }
                }
            }
            // The port stands at the same place in both families.
            return result == 0 ? Int(UInt16(bigEndian: address.sin6_port)) : nil
        }
    }
#endif
