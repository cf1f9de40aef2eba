// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoading
    import DataLoadingTesting

    /// A peer that answers by the bodies that its connections have brought, or at once.
    final class BodyPeer: Sendable {
        typealias Request = (stream: UInt32, body: String)

        private let whole: @Sendable (Int, [Request]) -> [HTTP2Frame]
        private let early: (@Sendable (UInt32) -> [HTTP2Frame])?
        /// How much of a body a stream may send at first; nil for the usual 65,535 bytes.
        private let window: UInt32?

        /// Answers each request that is whole, told those of its connection so far.
        init(_ whole: @escaping @Sendable (Int, [Request]) -> [HTTP2Frame]) {
            self.whole = whole
            early = nil
            window = nil
        }

        /// Answers each head.
        init(window: UInt32? = nil, early: @escaping @Sendable (UInt32) -> [HTTP2Frame]) {
            whole = { _, _ in [] }
            self.early = early
            self.window = window
        }

        static func answer(_ stream: UInt32) -> [HTTP2Frame] {
            [.head(stream, length: 4), .data(stream, "fine", isLast: true)]
        }

        var script: LoopbackScript {
            .perConnection { number in .converse { try self.serve(number, $0) } }
        }

        private func serve(_ connection: Int, _ stream: any ByteStream) throws {
            guard try HTTP2Peer.read(24, from: stream).count == 24 else { return }
            var settings = HTTP2Frame.settings
            // SETTINGS_INITIAL_WINDOW_SIZE
            if let window { settings.payload = [0, 4] + HTTP2Frame.bytes(window) }
            try HTTP2Peer.send([settings], to: stream)
            var bodies: [UInt32: String] = [:]
            var requests: [Request] = []
            while let frame = try HTTP2Peer.nextFrame(from: stream) {
                switch frame.kind {
                case .settings: try HTTP2Peer.acknowledge(frame, on: stream)
                case .headers:
                    if let early { try HTTP2Peer.send(early(frame.stream), to: stream) }
                case .data where early == nil:
                    bodies[frame.stream, default: ""] += String(
                        decoding: frame.payload, as: UTF8.self)
                    guard frame.flags & HTTP2Frame.endStream != 0 else { break }
                    requests.append((frame.stream, bodies[frame.stream] ?? ""))
                    try HTTP2Peer.send(whole(connection, requests), to: stream)
                default: break
                }
            }
        }
    }
#endif
