// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoading
    import DataLoadingTesting

    /// An HTTP/2 server whose responses depend on the bodies of its connections.
    final class BodyPeer: Sendable {
        typealias Request = (stream: UInt32, body: String)

        private let whole: @Sendable (Int, [Request]) -> [HTTP2Frame]
        private let early: (@Sendable (UInt32) -> [HTTP2Frame])?
        /// The initial window of a stream; nil for the default of 65,535 bytes.
        private let window: UInt32?

        /// Answers each complete request, given the earlier ones of its connection.
        init(_ whole: @escaping @Sendable (Int, [Request]) -> [HTTP2Frame]) {
            self.whole = whole
            early = nil
            window = nil
        }

        /// Answers each request head.
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
            var settings = HTTP2Frame.settings
            // SETTINGS_INITIAL_WINDOW_SIZE
            if let window { settings.payload = [0, 4] + HTTP2Frame.bytes(window) }
            var bodies: [UInt32: String] = [:]
            var requests: [Request] = []
            try HTTP2Peer.converse(on: stream, settings: settings) { frame in
                switch frame.kind {
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
                return true
            }
        }
    }
#endif
