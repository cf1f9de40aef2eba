// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import CCurl
import Foundation

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

extension CurlTransfer {
    /// Decides whether libcurl may write the request; called before each write of it.
    ///
    /// A request is sent once per attempt. libcurl would resend it in the cases of
    /// `CurlTransfer+Resends`. A resend is another attempt, which only the load may make.
    func willSend(on connection: ConnectionName) -> Bool {
        guard let task, !task.isCancelled, mayProceed(), mayUse(connection),
            task.beginSending()
        else { return false }
        // Another address may have been refused before this one was connected.
        state.stop = nil
        state.sends += 1
        leaveName(sends: true)
        startRefusalDetection()
        state.isOnNewConnection = long(CurlInfo.newConnections) > 0
        if mayShare { loop.noteSharing(by: self) }
        if shape?.upload == .copied, let count = task.request.body?.bytes?.count {
            task.sink.didSend(Int64(count), of: Int64(count))
        }
        state.lastActivity = loop.now
        loop.scheduleDeadlineCheck(self)
        return true
    }

    private func mayUse(_ connection: ConnectionName) -> Bool {
        if isLocal {
            guard maySendLocally(to: connection.peer) else { return false }
            loop.noteEstablished(localSocket, for: self)
            return true
        }
        state.connection = connection
        return maySend(to: connection.peer) && loop.maySend(self)
    }

    /// Whether other attempts may send on the same connection while this one runs.
    var mayShare: Bool { state.routing.isHTTP2 }

    /// Fills a buffer with body bytes for libcurl.
    func readBody(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard let task, !task.isCancelled else { return CurlSignal.abortRead }
        if let data = state.data {
            let count = min(buffer.count, data.count - state.dataOffset)
            let start = data.startIndex + state.dataOffset
            data.copyBytes(to: buffer, from: start..<(start + count))
            state.dataOffset += count
            state.lastActivity = loop.now
            task.sink.didSend(Int64(state.dataOffset), of: Int64(data.count))
            return count
        }
        loop.awaitingBodies[ObjectIdentifier(task)] = nil
        switch state.feed?.take(into: buffer) {
        case .bytes(let count):
            state.lastActivity = loop.now
            state.dataOffset += count
            task.sink.didSend(Int64(state.dataOffset), of: state.feed?.length)
            return count
        case .notYet:
            loop.awaitingBodies[ObjectIdentifier(task)] = self
            return CurlSignal.pauseData
        case .end, nil: return 0
        case .failed(let error):
            state.stop = error
            return CurlSignal.abortRead
        }
    }

    func openSocket(_ address: UnsafeMutablePointer<ccurl_sockaddr>) -> Int32 {
        // libcurl would open a further connection only for a second send.
        guard mayProceed(), mayConnect(address) else { return CurlSignal.badSocket }
        guard DescriptorReserve.hasRoom else {
            state.stop = .resources(reason: "file descriptors")
            return CurlSignal.badSocket
        }
        let socket = ccurl_open_socket(address)
        guard socket >= 0 else {
            if Self.isExhaustion(errno) {
                state.stop = .resources(reason: String(cString: strerror(errno)))
            }
            return CurlSignal.badSocket
        }
        loop.openedSocket(socket, to: address)
        if isLocal { noteLocalSocket(socket) }
        loop.noteConnecting(self, socket)
        return socket
    }

    static func isExhaustion(_ code: Int32) -> Bool {
        [EMFILE, ENFILE, ENOBUFS, ENOMEM, EADDRNOTAVAIL].contains(code)
    }
}
