// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import CCurl

    extension CurlLoop {
        /// Sends an attempt where it belongs, or lets it wait until that is known.
        func direct(_ transfer: CurlTransfer) {
            guard let task = transfer.task, let key = transfer.routeKey else {
                return resolve(transfer)
            }
            transfer.attempt.place.route = key
            let way = routes.enter(ObjectIdentifier(task), key, now: now)
            guard way != .renew else {
                retireHTTP2()
                return direct(transfer)
            }
            follow(way, transfer)
        }

        private func follow(_ way: RouteTable<ObjectIdentifier>.Way, _ transfer: CurlTransfer) {
            switch way {
            case .http1:
                transfer.attempt.place.route = nil
                resolve(transfer)
            case .http2:
                transfer.attempt.place.isHTTP2 = true
                resolve(transfer)
            case .probe:
                transfer.attempt.place.isHTTP2 = true
                transfer.attempt.place.isProbe = true
                resolve(transfer)
            case .wait, .renew: transfer.phase = .waiting
            }
        }

        /// Lets those go that have waited for what is known by now; false when there are none.
        func releaseWaiters() -> Bool {
            var hasReleased = false
            while let release = routes.next(now: now) {
                switch release {
                case .renew: retireHTTP2()
                case .start(let member, let key, let way):
                    guard let transfer = running[member], case .waiting = transfer.phase else {
                        routes.left(member, key, from: nil)
                        continue
                    }
                    hasReleased = true
                    follow(way, transfer)
                }
            }
            return hasReleased
        }

        func multi(for transfer: CurlTransfer) -> CurlMulti? {
            if transfer.attempt.place.isHTTP2 {
                if http2 == nil { http2 = CurlMulti(for: self) }
                return http2
            }
            if http1 == nil { http1 = CurlMulti(for: self) }
            return http1
        }

        /// Lets no attempt use a connection that is there; those that run keep theirs.
        func retireConnections() {
            if let http1 { retired.append(http1) }
            http1 = nil
            retireHTTP2()
        }

        /// The same of connections of HTTP/2 alone.
        func retireHTTP2() {
            if let http2 { retired.append(http2) }
            http2 = nil
            routes.retireConnections()
            if !retired.isEmpty { sweepSoon() }
        }

        /// Takes an attempt out of everything that counts who uses which connection.
        func leave(_ transfer: CurlTransfer, _ member: ObjectIdentifier) {
            let name = transfer.attempt.connection
            if let key = transfer.attempt.place.route {
                routes.left(member, key, from: transfer.attempt.place.isCounted ? name : nil)
                if transfer.attempt.wantsHTTP1 { routes.requiresHTTP1(key, now: now) }
            }
            if let name, serialUsers[name] === transfer { serialUsers[name] = nil }
        }

        /// Makes an attempt anew, on an HTTP/1.1 connection of its own.
        func sendElsewhere(_ transfer: CurlTransfer) {
            guard takeBack(transfer) else { return finish(transfer, .cancelled) }
            transfer.attempt.place = CurlPlace()
            transfer.attempt.place.mustBeFresh = true
            resolve(transfer)
        }

        /// Takes an attempt from libcurl of which nothing was written; false when it was cancelled.
        func takeBack(_ transfer: CurlTransfer) -> Bool {
            guard let task = transfer.task, case .running(let multi) = transfer.phase,
                !task.isCancelled
            else { return false }
            leave(transfer, ObjectIdentifier(task))
            endSharing(by: transfer)
            multi.remove(transfer.easy)
            transfer.phase = .idle
            transfer.attempt.connection = nil
            return true
        }

        /// A socket is opened for an attempt.
        func noteConnecting(_ transfer: CurlTransfer, _ socket: Int32) {
            transfer.attempt.place.sockets.append(socket)
            guard let task = transfer.task, case .running(let multi) = transfer.phase,
                multi === http2, let key = transfer.attempt.place.route
            else { return }
            // One that must have its own says nothing of those that others may join.
            guard !task.request.needsFreshConnection else { return }
            routes.isConnecting(ObjectIdentifier(task), key, now: now)
        }

        /// A socket is closed, or was: libcurl 7.88 does not tell of one that did not connect.
        func noteClosing(_ socket: Int32) {
            if let closed = http2Sockets.removeValue(forKey: socket) {
                lastStreams[closed.name] = nil
                routes.closed(closed.name, closed.route)
            }
            noteClosed(socket)
            let index = Int(socket)
            guard sockets.indices.contains(index), let owner = sockets[index].owner else { return }
            owner.connections -= 1
            if sockets[index].isShut { owner.shutConnections -= 1 }
            sockets[index].owner = nil
            sockets[index].isShut = false
        }

        /// Something happens on a connection that no attempt uses: mostly, that it ends.
        func noteIdleEvent(_ socket: Int32) {
            guard let idle = http2Sockets[socket] else { return }
            routes.mayHaveEnded(idle.name, idle.route)
        }
    }

    extension CurlTransfer {
        /// The route that has to be asked about; nil where HTTP/2 is out of the question.
        fileprivate var routeKey: RouteKey? {
            guard let task, let origin, origin.isSecure, !attempt.place.mustBeFresh,
                // A paused stream of HTTP/2 lets its connection buffer a whole window.
                !task.request.streamsResponse, loop.library.offersHTTP2(task.request.http2)
            else { return nil }
            return RouteKey(
                host: origin.host, port: origin.port, address: task.request.address,
                trust: task.request.serverTrustPolicy?.trust(forHost: origin.host))
        }
    }
#endif
