// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import CCurl
    import Foundation

    #if canImport(Glibc)
        import Glibc
    #else
        import Musl
    #endif

    extension CurlTransfer {
        /// Called before each writing of the request; false to refuse it.
        ///
        /// An attempt is sent once. libcurl would send a request again, a POST too, when a connection
        /// that was used before ends without a byte of response, and when its stream was refused:
        /// that is another attempt, which only the load may make.
        func willSend(to peer: UnsafePointer<CChar>?) -> Bool {
            guard let task, !task.isCancelled, goesOnSending() else { return false }
            attempt.connection = connectionName
            guard maySend(to: peer), loop.maySend(self), task.beginSending() else { return false }
            // Whatever kept another address from being dialled has kept nothing up.
            attempt.stop = nil
            attempt.sends += 1
            attempt.isOnNewConnection = long(CurlInfo.newConnections) > 0
            if mayShare { loop.noteSharing(by: self) }
            if shape?.upload == .copied, let count = task.request.body?.bytes?.count {
                task.sink.didSend(Int64(count), of: Int64(count))
            }
            attempt.lastActivity = loop.now
            loop.expectActivity(self)
            return true
        }

        /// Whether libcurl may go on towards a send: not after the first, and not after an answer.
        private func goesOnSending() -> Bool {
            guard !attempt.response.isComplete else {
                // libcurl sends a request again that was answered with 417: that is the caller's to
                // do. It also does so when a server takes a response back, whose rest is then missing.
                attempt.isAnswered = attempt.response.refusesExpectation
                if !attempt.isAnswered { attempt.stop = .http11Required }
                return false
            }
            guard attempt.sends > 0 else { return true }
            if attempt.stop == nil {
                attempt.stop = attempt.wantsHTTP1 ? .http11Required : .connectionReset
            }
            return false
        }

        /// Whether other attempts may send on the same connection while this one runs.
        var mayShare: Bool { attempt.place.isHTTP2 }

        /// Fills a buffer with body bytes for libcurl.
        func readBody(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
            guard let task, !task.isCancelled else { return CurlSignal.abortRead }
            if let data = attempt.data {
                let count = min(buffer.count, data.count - attempt.dataOffset)
                let start = data.startIndex + attempt.dataOffset
                data.copyBytes(to: buffer, from: start..<(start + count))
                attempt.dataOffset += count
                attempt.lastActivity = loop.now
                task.sink.didSend(Int64(attempt.dataOffset), of: Int64(data.count))
                return count
            }
            loop.awaitingBodies[ObjectIdentifier(task)] = nil
            switch attempt.feed?.take(into: buffer) {
            case .bytes(let count):
                attempt.lastActivity = loop.now
                attempt.dataOffset += count
                task.sink.didSend(Int64(attempt.dataOffset), of: attempt.feed?.length)
                return count
            case .notYet:
                loop.awaitingBodies[ObjectIdentifier(task)] = self
                return CurlSignal.pauseData
            case .end, nil: return 0
            case .failed(let error):
                attempt.stop = error
                return CurlSignal.abortRead
            }
        }

        func openSocket(_ address: UnsafeMutablePointer<ccurl_sockaddr>) -> Int32 {
            // A further connection would only be made for a second send.
            guard goesOnSending(), mayDial(address) else { return CurlSignal.badSocket }
            let socket = ccurl_open_socket(address)
            guard socket >= 0 else {
                if Self.isExhaustion(errno) {
                    attempt.stop = .resources(reason: String(cString: strerror(errno)))
                }
                return CurlSignal.badSocket
            }
            loop.openedSocket(socket, to: address)
            loop.noteConnecting(self, socket)
            return socket
        }

        static func isExhaustion(_ code: Int32) -> Bool {
            [EMFILE, ENFILE, ENOBUFS, ENOMEM, EADDRNOTAVAIL].contains(code)
        }
    }
#endif
