// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import CCurl

extension CurlLoop {
    /// Runs an attempt over HTTP/1.1 or HTTP/2, or makes it wait until that is decided.
    func chooseRoute(for transfer: CurlTransfer) {
        guard let task = transfer.task, let own = transfer.routeKey else {
            return resolve(transfer)
        }
        let key = routes.key(like: own)
        transfer.state.routing.route = key
        let decision = routes.enter(ObjectIdentifier(task), key, now: now)
        guard decision != .renew else {
            retireHTTP2()
            return chooseRoute(for: transfer)
        }
        apply(decision, transfer)
    }

    private func apply(
        _ decision: RouteTable<ObjectIdentifier>.Decision, _ transfer: CurlTransfer
    ) {
        switch decision {
        case .http1:
            transfer.state.routing.route = nil
            resolve(transfer)
        case .http2:
            transfer.state.routing.isHTTP2 = true
            resolve(transfer)
        case .probe:
            transfer.state.routing.isHTTP2 = true
            transfer.state.routing.isProbe = true
            resolve(transfer)
        case .wait, .renew: transfer.phase = .waiting
        }
    }

    /// Runs the attempts whose wait is over; returns whether there were any.
    func releaseWaiters() -> Bool {
        var hasReleased = false
        while let release = routes.next(now: now) {
            switch release {
            case .renew: retireHTTP2()
            case .start(let member, let key, let decision):
                guard let transfer = running[member], case .waiting = transfer.phase else {
                    routes.left(member, key, from: nil)
                    continue
                }
                hasReleased = true
                apply(decision, transfer)
            }
        }
        return hasReleased
    }

    func multi(for transfer: CurlTransfer) -> CurlMulti? {
        if transfer.state.routing.isHTTP2 {
            if http2 == nil, DescriptorReserve.hasRoom { http2 = CurlMulti(for: self) }
            return http2
        }
        return serialMulti(for: transfer)
    }

    /// Excludes all open connections from new attempts; running attempts keep theirs.
    func retireConnections() {
        retired += http1.removeAll()
        retireHTTP2()
    }

    /// Excludes the open connections of HTTP/2 from new attempts; running attempts keep theirs.
    func retireHTTP2() {
        if let http2 { retired.append(http2) }
        http2 = nil
        routes.retireConnections()
        if !retired.isEmpty { sweepSoon() }
    }

    /// Removes an attempt from the records of which attempt uses which connection.
    func leave(_ transfer: CurlTransfer, _ member: ObjectIdentifier) {
        let name = transfer.state.connection
        if let key = transfer.state.routing.route {
            routes.left(member, key, from: transfer.state.routing.isCounted ? name : nil)
            if transfer.state.wantsHTTP1 { routes.requiresHTTP1(key, now: now) }
        }
        if let name, serialUsers[name] === transfer { serialUsers[name] = nil }
    }

    /// Takes an attempt back from libcurl before anything was written; false when it was
    /// cancelled.
    func withdraw(_ transfer: CurlTransfer) -> Bool {
        guard let task = transfer.task, case .running(let multi) = transfer.phase,
            !task.isCancelled
        else { return false }
        leave(transfer, ObjectIdentifier(task))
        endSharing(by: transfer)
        transfer.leaveName(sends: false)
        multi.remove(transfer.easy)
        transfer.phase = .idle
        transfer.state.connection = nil
        transfer.beginTunnel(for: task)
        return true
    }

    /// Notes that a socket is opened for an attempt.
    func noteConnecting(_ transfer: CurlTransfer, _ socket: Int32) {
        transfer.state.routing.sockets.append(socket)
        guard let task = transfer.task, case .running(let multi) = transfer.phase,
            multi === http2, let key = transfer.state.routing.route
        else { return }
        // A connection that only this attempt may use says nothing about those that others may
        // join.
        guard !task.request.needsFreshConnection else { return }
        routes.isConnecting(ObjectIdentifier(task), key, now: now)
    }

    /// Notes that a socket is closed, or was closed before: libcurl 7.88 does not report the
    /// close of one that did not connect.
    func noteClosing(_ socket: Int32) {
        if let closed = http2Sockets.removeValue(forKey: socket) {
            lastStreams[closed.name] = nil
            routes.closed(closed.name, closed.route)
        }
        noteClosed(socket)
        let index = Int(socket)
        guard sockets.indices.contains(index) else { return }
        if let origin = sockets[index].origin.take() { mailbox.figures.closed(origin) }
        guard let owner = sockets[index].owner else { return }
        owner.connections -= 1
        if sockets[index].isShut { owner.shutConnections -= 1 }
        sockets[index].owner = nil
        sockets[index].isShut = false
    }

    /// Notes an event on a connection that no attempt uses, which is mostly its end.
    func noteIdleEvent(_ socket: Int32) {
        guard let idle = http2Sockets[socket] else { return }
        routes.mayHaveEnded(idle.name, idle.route)
    }
}

extension CurlTransfer {
    /// The key of the attempt's route; nil where HTTP/2 is not possible.
    fileprivate var routeKey: RouteKey? {
        guard let task, let origin, origin.isSecure, !state.routing.mustBeFresh, !isLocal,
            // While a stream of HTTP/2 is paused, libcurl buffers a whole window of it.
            !task.request.streamsResponse, loop.library.offersHTTP2(task.request.http2),
            !uploadMayCostPieces
        else { return nil }
        return RouteKey(
            host: origin.host, port: origin.port, address: task.request.address,
            proxy: task.request.proxy, proxyAuthorization: task.request.proxyAuthorization,
            trust: task.request.trust(for: origin))
    }
}
