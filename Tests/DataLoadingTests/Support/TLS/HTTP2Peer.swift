// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoading
    import DataLoadingTesting
    import Dispatch

    /// A server of HTTP/2 that knows just enough to misbehave: its answers are frames.
    final class HTTP2Peer: Sendable {
        enum Step: Sendable {
            case send([HTTP2Frame])
            /// The same frame many times over.
            case flood(HTTP2Frame, count: Int)
            /// Waits, for a client that has to have read what was sent.
            case wait(DispatchSemaphore)
            case stall
            case close
            case reset
        }

        typealias Answer = @Sendable (_ request: Int, _ stream: UInt32) -> [Step]

        private let answer: Answer
        private let count = Locked(0)

        /// Answers each request, by its number from 0 over all connections, once it is whole.
        init(_ answer: @escaping Answer) {
            self.answer = answer
        }

        /// How many requests came.
        var requests: Int { count.withLock { $0 } }

        var script: LoopbackScript { .converse { try self.serve($0) } }

        /// A whole response.
        static func response(_ stream: UInt32, _ text: String) -> [Step] {
            [.send([.head(stream, length: text.utf8.count), .data(stream, text, isLast: true)])]
        }

        private func serve(_ stream: any ByteStream) throws {
            let preface = try Self.read(24, from: stream)
            guard preface.count == 24 else { return }
            try Self.send([.settings], to: stream)
            while let frame = try Self.nextFrame(from: stream) {
                switch frame.kind {
                case .settings: try Self.acknowledge(frame, on: stream)
                case .headers, .data:
                    guard frame.flags & HTTP2Frame.endStream != 0 else { break }
                    guard try perform(frame.stream, on: stream) else { return }
                default: break
                }
            }
        }

        /// Answers a request; false to close.
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

        /// Acknowledges settings (RFC 9113 section 6.5.3), unless they are an acknowledgement.
        static func acknowledge(_ settings: HTTP2Frame, on stream: any ByteStream) throws {
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

        /// Reads so many bytes; fewer at the end of the connection.
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
