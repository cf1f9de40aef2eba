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
        /// Learns what a connection speaks that an attempt is about to use; false where another
        /// attempt uses it and it cannot carry both.
        ///
        /// libcurl below 8.5.0 takes a connection of HTTP/1.1 that is in use for one that
        /// multiplexes, when another connection to the same server does (curl commit 1c37d472a0).
        func maySend(_ transfer: CurlTransfer) -> Bool {
            guard let name = transfer.attempt.connection else { return true }
            let isNew = transfer.long(CurlInfo.newConnections) > 0
            if isNew {
                adoptSocket(of: transfer, name)
            } else if hasEnded(name, for: transfer) {
                giveUpEnded(transfer)
                return false
            }
            if transfer.attempt.place.isHTTP2 {
                let isHTTP2 = speaksHTTP2(transfer, name)
                if let isHTTP2 { learn(transfer, isHTTP2: isHTTP2, name) }
                if isHTTP2 == true { return true }
            } else {
                transfer.attempt.place.speaksHTTP2 = false
            }
            if !isNew, let other = serialUsers[name], other !== transfer,
                other.attempt.place.speaksHTTP2 != true, !other.isDone
            {
                if transfer.attempt.place.mustBeFresh {
                    transfer.attempt.stop = .connectionReset
                } else {
                    transfer.attempt.place.isMisplaced = true
                }
                return false
            }
            serialUsers[name] = transfer
            return true
        }

        /// Learns from a head what its connection speaks, where nothing told that before.
        func noteVersion(of transfer: CurlTransfer) {
            guard transfer.attempt.place.isHTTP2, transfer.attempt.place.speaksHTTP2 == nil,
                let name = transfer.attempt.connection
            else { return }
            learn(transfer, isHTTP2: transfer.attempt.response.minorVersion == nil, name)
        }

        private func speaksHTTP2(_ transfer: CurlTransfer, _ name: ConnectionName) -> Bool? {
            let choice = idle.seesChoice ? ccurl_chose_http2(transfer.easy) : -1
            guard choice < 0 else { return choice == 1 }
            // What a head has told of a connection holds for all who use it.
            let isKnown = transfer.attempt.place.route.map { routes.knows(name, $0) } ?? false
            return isKnown ? true : nil
        }

        private func learn(_ transfer: CurlTransfer, isHTTP2: Bool, _ name: ConnectionName) {
            transfer.attempt.place.speaksHTTP2 = isHTTP2
            guard let task = transfer.task, let key = transfer.attempt.place.route else { return }
            let member = ObjectIdentifier(task)
            guard isHTTP2 else {
                // Its place is in the other handle: nothing may find it here when it is idle.
                ccurl_set_long(transfer.easy, CurlOption.forbidReuse, 1)
                transfer.attempt.place.closesConnection = true
                transfer.attempt.response.allowsHTTP2 = false
                return routes.foundHTTP1(member, key, now: now)
            }
            let isKnown = routes.knows(name, key) || keepSocket(of: transfer, key, name)
            transfer.attempt.place.isCounted = isKnown
            // No later than libcurl counts a connection's age from, which from 8.23.0 on joins none that
            // is too old: https://github.com/curl/curl/pull/22671.
            let opened = transfer.attempt.handedOver
            routes.foundHTTP2(member, key, on: isKnown ? name : nil, opened: opened)
        }

        /// Notes that others may join the connection that was made for an attempt; false when they
        /// cannot.
        private func keepSocket(
            of transfer: CurlTransfer, _ key: RouteKey, _ name: ConnectionName
        ) -> Bool {
            guard case .running(let multi) = transfer.phase, multi === http2,
                let socket = socket(of: transfer, name)
            else { return false }
            http2Sockets[socket] = HTTP2Socket(route: key, name: name)
            return true
        }

        /// Counts the connection that was made for an attempt, now that it is one.
        private func adoptSocket(of transfer: CurlTransfer, _ name: ConnectionName) {
            guard case .running(let multi) = transfer.phase,
                let socket = socket(of: transfer, name), sockets[Int(socket)].owner == nil
            else { return }
            noteOpen(socket, name)
            sockets[Int(socket)].owner = multi
            multi.connections += 1
        }

        private func socket(of transfer: CurlTransfer, _ name: ConnectionName) -> Int32? {
            transfer.attempt.place.sockets.first { socket in
                sockets[Int(socket)].isOurs
                    && Self.port(socket, getsockname) == name.localPort
                    && sockets[Int(socket)].peerPort == name.peerPort
            }
        }
    }

    extension CurlTransfer {
        /// Whether libcurl has ended the transfer, though it may not have said so yet.
        ///
        /// Before that, CURLINFO_ACTIVESOCKET is no socket (7.88).
        fileprivate var isDone: Bool {
            var socket = -1
            guard !attempt.place.isOver else { return true }
            guard ccurl_get_long(easy, CurlInfo.activeSocket, &socket) == 0 else { return false }
            return Int32(truncatingIfNeeded: socket) >= 0
        }
    }
#endif
