// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoadingSupport
    import DataLoading
    import DataLoadingTesting
    import Foundation

    /// The server side of a TLS connection below a script.
    ///
    /// OpenSSL works in memory; bytes pass through the stream below, so that a script's pauses,
    /// resets and the stop of a server work as without TLS. Used only on the connection's thread.
    final class LoopbackTLS: ByteStream {
        /// The faults that it can make.
        struct Behaviour: Sendable {
            /// How much of the server's first flight is sent before the connection ends.
            enum Cut: Sendable {
                case bytes(Int), half, allButOne
            }

            var cut: Cut?
            /// Whether the connection ends with a reset.
            var resets = false
            /// Whether the connection ends without close_notify (RFC 8446 section 6.1).
            var endsSilently = false
            /// Whether a refused client may close the connection, so that no reset overtakes the
            /// alert.
            var waitsAfterRefusal = false
        }

        /// Adds TLS to every connection of a server.
        static func cipher(
            _ identity: TestIdentity, _ behaviour: Behaviour = Behaviour()
        ) -> LoopbackServer.Cipher {
            { socket in LoopbackTLS(socket, identity, behaviour) ?? socket }
        }

        private let below: any ByteStream
        private let behaviour: Behaviour
        private let functions: OpenSSL.ConnectionFunctions
        private let connection: OpaquePointer
        private let incoming: OpaquePointer
        private let outgoing: OpaquePointer
        private var isOpen = false
        private var buffer = [UInt8](repeating: 0, count: 17_000)

        private init?(_ below: any ByteStream, _ identity: TestIdentity, _ behaviour: Behaviour) {
            functions = identity.ssl.connections
            guard let connection = functions.new(identity.context),
                let incoming = functions.newBuffer(functions.memory()),
                let outgoing = functions.newBuffer(functions.memory())
            else { return nil }
            self.below = below
            self.behaviour = behaviour
            self.connection = connection
            self.incoming = incoming
            self.outgoing = outgoing
            functions.setBuffers(connection, incoming, outgoing)
            functions.acceptState(connection)
        }

        deinit {
            functions.free(connection)
        }

        func read(into bytes: UnsafeMutableRawBufferPointer) throws -> Int {
            try open()
            return try repeatedly { [functions, connection] in
                functions.read(connection, bytes.baseAddress, Int32(clamping: bytes.count))
            }
        }

        func write(_ bytes: UnsafeRawBufferPointer) throws {
            try open()
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(16_384))
                let count = try repeatedly { [functions, connection] in
                    functions.write(connection, piece.baseAddress, Int32(piece.count))
                }
                guard count > 0 else { throw Interruption.clientGone }
                rest = rest.dropFirst(count)
                try flush()
            }
        }

        func wait(until deadline: Instant, or descriptor: Int32?) throws {
            try below.wait(until: deadline, or: descriptor)
        }

        var unconfirmedBytes: Int { below.unconfirmedBytes }

        func waitForClient() throws { try below.waitForClient() }

        func finishWriting() {
            sayEnd()
            below.finishWriting()
        }

        func dropArrived() { below.dropArrived() }

        func close(resetting: Bool) {
            let resets = resetting || (!isOpen && behaviour.resets)
            if !resets { sayEnd() }
            below.close(resetting: resets)
        }

        private func sayEnd() {
            guard isOpen, !behaviour.endsSilently else { return }
            functions.clearErrors()
            _ = functions.shutDown(connection)
            try? flush()
        }

        private func open() throws {
            guard !isOpen else { return }
            do {
                let result = try repeatedly { [functions, connection] in
                    functions.shakeHands(connection)
                }
                guard result > 0 else { throw Interruption.clientGone }
            } catch {
                if behaviour.waitsAfterRefusal {
                    try buffer.withUnsafeMutableBytes { bytes in
                        while try below.read(into: bytes) > 0 {}
                    }
                }
                throw error
            }
            isOpen = true
            try flush()
        }

        /// Calls OpenSSL until it is done, moving bytes in and out in between.
        private func repeatedly(_ call: () -> Int32) throws -> Int {
            while true {
                functions.clearErrors()
                let result = call()
                if result > 0 { return Int(result) }
                let error = functions.error(connection, result)
                try flush()
                switch error {
                case 2:  // SSL_ERROR_WANT_READ
                    let count = try buffer.withUnsafeMutableBytes { try below.read(into: $0) }
                    guard count > 0 else { return 0 }
                    _ = functions.writeBuffer(incoming, buffer, Int32(count))
                case 6:  // SSL_ERROR_ZERO_RETURN
                    return 0
                default:
                    throw Interruption.clientGone
                }
            }
        }

        private func flush() throws {
            var pending: [UInt8] = []
            while true {
                let count = buffer.withUnsafeMutableBytes { bytes in
                    functions.readBuffer(outgoing, bytes.baseAddress, Int32(bytes.count))
                }
                guard count > 0 else { break }
                pending += buffer.prefix(Int(count))
            }
            guard !pending.isEmpty else { return }
            guard !isOpen, let cut = behaviour.cut else {
                return try pending.withUnsafeBytes { try below.write($0) }
            }
            let sent =
                switch cut {
                case .bytes(let count): min(count, pending.count)
                case .half: pending.count / 2
                case .allButOne: pending.count - 1
                }
            try pending[..<sent].withUnsafeBytes { try below.write($0) }
            throw Interruption.clientGone
        }
    }
#endif
