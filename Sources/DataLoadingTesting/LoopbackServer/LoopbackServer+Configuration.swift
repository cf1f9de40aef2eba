// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension LoopbackServer {
    /// Where a server listens and how much it remembers.
    public struct Configuration: Hashable, Sendable {
        /// The numeric loopback address, 127.0.0.1 by default; 127.0.0.2 or ::1 are others.
        public var host = "127.0.0.1"
        /// The port, 0 by default: the system chooses a free one.
        ///
        /// A port that a stopped server had can be taken again at once.
        public var port: UInt16 = 0
        /// How many connections may wait to be accepted, 1,024 by default.
        public var backlog = 1024
        /// How many bytes of each body are recorded, 1 MiB by default; the rest is counted.
        public var recordedBodyLimit = 1_048_576
        /// How many requests, and connections, are kept: the newest 10,000 by default.
        ///
        /// Counts go on; only the oldest records are dropped.
        public var recordLimit = 10_000
        /// The size in bytes of each connection's receive buffer; nil, the default, is the system's.
        public var receiveBufferSize: Int32?
        /// The size in bytes of each connection's send buffer; nil, the default, is the system's.
        public var sendBufferSize: Int32?

        /// Makes the default configuration.
        public init() {}
    }
}
