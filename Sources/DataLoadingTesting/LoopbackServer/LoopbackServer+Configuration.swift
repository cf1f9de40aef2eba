// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension LoopbackServer {
    /// The address, buffer sizes and record limits of a server.
    public struct Configuration: Hashable, Sendable {
        /// The numeric loopback address; default 127.0.0.1.
        ///
        /// Others are 127.0.0.2 and ::1.
        public var host = "127.0.0.1"
        /// The port; default 0: the system chooses a free one.
        ///
        /// The port of a stopped server can be used again at once.
        public var port: UInt16 = 0
        /// The path of a Unix-domain socket to listen on instead of a port; default nil.
        ///
        /// A file that is there is removed first; that of the socket stays when the server stops.
        /// The port is then 0, and `LoopbackServer.address` is what a `HostResolver` needs.
        public var unixSocket: String?
        /// The maximum number of connections that wait to be accepted; default 1,024.
        public var backlog = 1024
        /// The number of bytes recorded of each body; default 1 MiB.
        ///
        /// Further bytes are only counted.
        public var recordedBodyLimit = 1_048_576
        /// The number of requests, and of connections, that are kept; default the newest 10,000.
        ///
        /// Counts include the dropped records.
        public var recordLimit = 10_000
        /// The receive buffer size of each connection in bytes; nil, the default, is the system's.
        public var receiveBufferSize: Int32?
        /// The send buffer size of each connection in bytes; nil, the default, is the system's.
        public var sendBufferSize: Int32?

        /// Makes the default configuration.
        public init() {}
    }
}
