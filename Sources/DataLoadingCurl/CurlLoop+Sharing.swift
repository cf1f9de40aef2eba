// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import CCurl

extension CurlLoop {
    /// Finds out which protocol the connection of an attempt speaks, before it sends.
    ///
    /// Returns false when another attempt uses the connection and it cannot carry both.
    func maySend(_ transfer: CurlTransfer) -> Bool {
        guard let name = transfer.state.connection else { return true }
        let isNew = transfer.long(CurlInfo.newConnections) > 0
        if isNew {
            adoptSocket(of: transfer, name)
        } else if hasEnded(name, for: transfer) {
            closeEndedConnection(transfer)
            return false
        }
        if transfer.state.routing.isHTTP2 {
            let isHTTP2 = speaksHTTP2(transfer, name)
            if let isHTTP2 { learn(transfer, isHTTP2: isHTTP2, name) }
            if isHTTP2 == true { return true }
        } else {
            transfer.state.routing.speaksHTTP2 = false
        }
        return takeSerialConnection(name, for: transfer, isNew: isNew)
    }

    /// Takes the protocol of a connection from a response head, where it was not known before.
    func noteVersion(of transfer: CurlTransfer) {
        guard transfer.state.routing.isHTTP2, transfer.state.routing.speaksHTTP2 == nil,
            let name = transfer.state.connection
        else { return }
        learn(transfer, isHTTP2: transfer.state.response.minorVersion == nil, name)
    }

    private func speaksHTTP2(_ transfer: CurlTransfer, _ name: ConnectionName) -> Bool? {
        let choice = idle.readsALPN ? ccurl_chose_http2(transfer.easy) : -1
        guard choice < 0 else { return choice == 1 }
        // What one attempt's head has shown about a connection holds for all attempts on it.
        let isKnown = transfer.state.routing.route.map { routes.knows(name, $0) } ?? false
        return isKnown ? true : nil
    }

    private func learn(_ transfer: CurlTransfer, isHTTP2: Bool, _ name: ConnectionName) {
        transfer.state.routing.speaksHTTP2 = isHTTP2
        guard let task = transfer.task, let key = transfer.state.routing.route else { return }
        let member = ObjectIdentifier(task)
        guard isHTTP2 else {
            // It belongs to the other multi handle, so that no attempt may find it here when it
            // is idle.
            ccurl_set_long(transfer.easy, CurlOption.forbidReuse, 1)
            transfer.state.routing.closesConnection = true
            transfer.state.response.allowsHTTP2 = false
            return routes.foundHTTP1(member, key, now: now)
        }
        let isKnown = routes.knows(name, key) || keepSocket(of: transfer, key, name)
        transfer.state.routing.isCounted = isKnown
        // This is not later than the instant from which libcurl counts a connection's age. From
        // 8.23.0 on libcurl joins no connection that is too old:
        // https://github.com/curl/curl/pull/22671.
        let opened = transfer.state.handedOver
        routes.foundHTTP2(member, key, on: isKnown ? name : nil, opened: opened)
    }

    /// Records the connection that was opened for an attempt as one that others may join; false
    /// when they cannot.
    private func keepSocket(
        of transfer: CurlTransfer, _ key: RouteKey, _ name: ConnectionName
    ) -> Bool {
        guard case .running(let multi) = transfer.phase, multi === http2,
            let socket = socket(of: transfer, name)
        else { return false }
        http2Sockets[socket] = HTTP2Socket(route: key, name: name)
        return true
    }

    /// Assigns the connection that was opened for an attempt to its multi handle and counts it.
    private func adoptSocket(of transfer: CurlTransfer, _ name: ConnectionName) {
        guard case .running(let multi) = transfer.phase,
            let socket = socket(of: transfer, name), sockets[Int(socket)].owner == nil
        else { return }
        noteOpen(socket, name)
        sockets[Int(socket)].owner = multi
        sockets[Int(socket)].place = transfer.place
        multi.connections += 1
        noteEstablished(socket, for: transfer)
    }

    /// Counts a connection that was opened for an attempt, now that it is there.
    func noteEstablished(_ socket: Int32?, for transfer: CurlTransfer) {
        guard let index = socket.map({ Int($0) }), sockets.indices.contains(index),
            sockets[index].origin == nil, let origin = transfer.origin
        else { return }
        sockets[index].origin = origin
        mailbox.figures.opened(origin)
    }
}
