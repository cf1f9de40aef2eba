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
        /// libcurl 7.88 sends a request again, a POST too, when a connection that it used before
        /// ends without a byte of response; the server may have acted on the first.
        func willSend(to peer: UnsafePointer<CChar>?) -> Bool {
            if !isOnFurtherConnection { loop.noteSharing(by: self) }
            guard let task, !task.isCancelled else { return false }
            guard !attempt.response.isComplete else {
                // libcurl sends a request again that was answered with 417: that is the caller's to
                // do. It also does so when a server takes a response back, whose rest is then missing.
                attempt.isAnswered = attempt.response.refusesExpectation
                if !attempt.isAnswered { attempt.stop = .http2(reason: "HTTP/1.1 required") }
                return false
            }
            guard maySend(to: peer) else { return false }
            // Whatever kept another address from being dialled has kept nothing up.
            if attempt.sends == 0 { attempt.stop = nil }
            attempt.sends += 1
            if shape?.upload == .copied, let count = task.request.body?.bytes?.count {
                task.sink.didSend(Int64(count), of: Int64(count))
            }
            attempt.lastActivity = loop.now
            loop.expectActivity(self)
            let isRefused = wasRefused
            if attempt.sends == 1
                || (attempt.sends == 2 && (task.request.maySendTwice || isRefused) && restartBody())
            {
                noteConnection()
                return true
            }
            attempt.isRefused = isRefused
            attempt.stop = isRefused ? .http2(reason: "refused stream") : .connectionReset
            return false
        }

        /// Whether the peer said that it would not work on what was sent before (RFC 9113 section 8.7).
        ///
        /// libcurl tells nobody, but what it has sent on a connection made for the attempt it sends
        /// again for that reason alone. On one that was used before, or by others meanwhile, the
        /// connection may have died with the request.
        private var wasRefused: Bool {
            attempt.sends > 1 && attempt.isOnNewConnection && !attempt.isShared && mayShare
        }

        /// Whether other attempts may send on the same connection while this one runs.
        var mayShare: Bool {
            origin?.isSecure == true && task?.request.streamsResponse == false
        }

        /// Whether libcurl has made a connection for the attempt since it last sent.
        private var isOnFurtherConnection: Bool {
            long(CurlInfo.newConnections) > attempt.connections
        }

        /// Notes what kind of connection the request goes out on, not one that it was kept from.
        private func noteConnection() {
            attempt.isOnNewConnection = isOnFurtherConnection
            attempt.connections = long(CurlInfo.newConnections)
            if attempt.sends > 1 { attempt.isShared = false }
        }

        /// Starts the body over for a second send; false when that cannot be done.
        ///
        /// libcurl does so itself only when it had written any of it: what it had read and not
        /// written, for want of a window, would be missing.
        private func restartBody() -> Bool {
            guard attempt.feed == nil || attempt.dataOffset == 0 else { return false }
            attempt.dataOffset = 0
            return true
        }

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

        /// Starts the body over for a second send, which only bytes in memory can.
        func rewindBody(to offset: Int64, origin: Int32) -> Bool {
            guard origin == SEEK_SET, let data = attempt.data, let offset = Int(exactly: offset),
                (0...data.count).contains(offset)
            else { return false }
            attempt.dataOffset = offset
            return true
        }

        func openSocket(_ address: UnsafeMutablePointer<ccurl_sockaddr>) -> Int32 {
            guard mayDial(address) else { return CurlSignal.badSocket }
            let socket = ccurl_open_socket(address)
            guard socket >= 0 else {
                if Self.isExhaustion(errno) {
                    attempt.stop = .resources(reason: String(cString: strerror(errno)))
                }
                return CurlSignal.badSocket
            }
            loop.openedSocket(socket)
            return socket
        }

        static func isExhaustion(_ code: Int32) -> Bool {
            [EMFILE, ENFILE, ENOBUFS, ENOMEM, EADDRNOTAVAIL].contains(code)
        }
    }
#endif
