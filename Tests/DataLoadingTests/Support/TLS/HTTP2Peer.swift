// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoadingSupport
    import DataLoading
    import DataLoadingTesting
    import Dispatch

    /// An HTTP/2 server with scripted frames, which can break the protocol.
    final class HTTP2Peer: Sendable {
        enum Step: Sendable {
            case send([HTTP2Frame])
            /// The same frame many times.
            case flood(HTTP2Frame, count: Int)
            /// Waits, so that the client can read what was sent.
            case wait(DispatchSemaphore)
            case stall
            case close
            case reset
        }

        typealias Answer = @Sendable (_ request: Int, _ stream: UInt32) -> [Step]

        private let answer: Answer
        private let count = Locked(0)

        /// Answers each complete request by its number from 0 over all connections.
        init(_ answer: @escaping Answer) {
            self.answer = answer
        }

        /// The number of requests.
        var requests: Int { count.withLock { $0 } }

        var script: LoopbackScript { .converse { try self.serve($0) } }

        /// A complete response.
        static func response(_ stream: UInt32, _ text: String) -> [Step] {
            [.send([.head(stream, length: text.utf8.count), .data(stream, text, isLast: true)])]
        }

        private func serve(_ stream: any ByteStream) throws {
            try Self.converse(on: stream) { frame in
                let isEnd = frame.flags & HTTP2Frame.endStream != 0
                guard isEnd, frame.kind == .headers || frame.kind == .data else { return true }
                return try perform(frame.stream, on: stream)
            }
        }

        /// Answers a request; returns false to close.
        private func perform(_ number: UInt32, on stream: any ByteStream) throws -> Bool {
            let request = count.withLock { count in
                defer { count += 1 }
                return count
            }
            for step in answer(request, number) {
                switch step {
                case .send(let frames): try Self.send(frames, to: stream)
                case .flood(let frame, let count):
                    let block = Array(repeatElement(frame, count: 1_000))
                    for _ in 0..<(count / block.count) { try Self.send(block, to: stream) }
                case .wait(let signal): signal.wait()
                case .stall: try stream.waitForClient()
                case .close: return false
                case .reset:
                    stream.close(resetting: true)
                    return false
                }
            }
            return true
        }

        static func send(_ frames: [HTTP2Frame], to stream: any ByteStream) throws {
            try frames.flatMap(\.bytes).withUnsafeBytes { try stream.write($0) }
        }

        /// Performs the handshake, acknowledges settings, and passes every other frame until the
        /// connection ends or the handler returns false.
        static func converse(
            on stream: any ByteStream, settings: HTTP2Frame = .settings,
            _ answer: (HTTP2Frame) throws -> Bool
        ) throws {
            guard try read(24, from: stream).count == 24 else { return }
            try send([settings], to: stream)
            while let frame = try nextFrame(from: stream) {
                if frame.kind == .settings {
                    try acknowledge(frame, on: stream)
                } else if try !answer(frame) {
                    return
                }
            }
        }

        /// Acknowledges settings (RFC 9113 section 6.5.3), unless they are an acknowledgement.
        private static func acknowledge(_ settings: HTTP2Frame, on stream: any ByteStream) throws {
            guard settings.flags & HTTP2Frame.acknowledgement == 0 else { return }
            try send([HTTP2Frame(kind: .settings, flags: HTTP2Frame.acknowledgement)], to: stream)
        }

        static func nextFrame(from stream: any ByteStream) throws -> HTTP2Frame? {
            let head = try read(9, from: stream)
            guard head.count == 9 else { return nil }
            let length = head[..<3].reduce(0) { $0 << 8 | Int($1) }
            let number = head[5...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            return HTTP2Frame(
                kind: HTTP2Frame.Kind(rawValue: head[3]), flags: head[4],
                stream: number & 0x7FFF_FFFF, payload: try read(length, from: stream))
        }

        /// Reads this many bytes, or fewer at the end of the connection.
        static func read(_ count: Int, from stream: any ByteStream) throws -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: count)
            var filled = 0
            while filled < count {
                let read = try bytes.withUnsafeMutableBytes {
                    try stream.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[filled...]))
                }
                guard read > 0 else { break }
                filled += read
            }
            return Array(bytes[..<filled])
        }
    }
#endif
