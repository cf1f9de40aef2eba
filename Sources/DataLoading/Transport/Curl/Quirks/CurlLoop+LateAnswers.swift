// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import CCurl
    import Foundation

    // Seen on 7.88.1; no upstream issue is known here. To be let go when these tests
    // hold without it on every supported version: `CurlExpectTests`, "an early 413 that has arrived is
    // heard, whatever is reset behind it" and "the rest of an answer is heard though the next write fails".
    extension CurlLoop {
        /// How much of an answer is read from a connection that libcurl gives up.
        private static let mostLate = 65_536

        /// Reads what a server said to an upload before it closed the connection.
        ///
        /// A server that answers early and closes makes the next write fail, and libcurl then closes
        /// without a look at the answer that has arrived. Over TLS it cannot be read any more.
        func keepLateAnswer(_ socket: Int32) {
            guard sockets.indices.contains(Int(socket)) else { return }
            let entry = sockets[Int(socket)]
            guard
                let transfer = running.values.first(where: { $0.awaitsAnswer(on: socket, entry) })
            else { return }
            var buffer = [UInt8](repeating: 0, count: 16_384)
            while transfer.attempt.lateAnswer.count < Self.mostLate {
                let count = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                transfer.attempt.lateAnswer += buffer[..<count]
            }
        }
    }

    extension CurlTransfer {
        /// Whether the socket is that of this transfer, and an answer has not come, or not whole.
        ///
        /// libcurl sends on after a head that says that the connection will be closed.
        fileprivate func awaitsAnswer(on socket: Int32, _ entry: SocketEntry) -> Bool {
            noteUnseenSend()
            guard case .running = phase, task?.request.body != nil, attempt.sends > 0,
                !attempt.response.isComplete || missing ?? 0 > 0, origin?.isSecure == false
            else { return false }
            // The system gives one port to connections of several peers.
            return CurlLoop.port(socket, getsockname) == long(CurlInfo.localPort)
                && entry.peerPort == long(CurlInfo.remotePort) && entry.peer == peerAddress
        }

        /// How much of the body has not come; nil when it does not say how long it is.
        private var missing: Int64? {
            guard attempt.response.isComplete else { return nil }
            if !attempt.hasBody { return 0 }
            guard case .length(let length) = attempt.response.framing else { return nil }
            return length - attempt.wireBytes
        }

        /// Whether all of the response is there, as far as its length tells.
        var isWhole: Bool { missing == 0 && !attempt.isUndecoded }

        /// Takes the answer that libcurl has left, or its rest; nil when it is whole.
        func readLateAnswer() -> DataLoaderError? {
            var rest = attempt.lateAnswer[...]
            attempt.lateAnswer = []
            while !attempt.response.isComplete {
                guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else {
                    return .connectionReset
                }
                let line = rest[...end]
                guard line.withUnsafeBytes({ receiveHeader($0) }) else {
                    return attempt.stop ?? .cancelled
                }
                rest = rest[(end + 1)...]
            }
            guard let missing, let count = Int(exactly: missing), count <= rest.count else {
                return .truncatedBody
            }
            guard count > 0 else { return nil }
            let taken = rest.prefix(count).withUnsafeBytes { receiveBody($0) }
            return taken == count ? nil : attempt.stop ?? .truncatedBody
        }
    }
#endif
