// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Which connections an attempt may use, and what is known of the one that it uses.
struct ConnectionRouting {
    /// The route, unless it is known to speak HTTP/1.1 only.
    var route: RouteKey?
    /// Whether HTTP/2 is offered, in the multi handle for that.
    var isHTTP2 = false
    /// Whether HTTP/2 is offered to check whether the server speaks it by now.
    var isProbe = false
    /// The sockets that were opened for the attempt, of which some may be closed.
    var sockets: [Int32] = []
    /// The Unix-domain socket that was opened for the attempt, and its generation.
    var localSocket: (descriptor: Int32, generation: UInt32)?
    /// Whether the connection speaks HTTP/2; nil while that is unknown.
    var speaksHTTP2: Bool?
    /// Whether the attempt counts as a user of its connection, which others may join.
    var isCounted = false
    /// The connection was in use: nothing was written, and the attempt is started again.
    var isOnBusyConnection = false
    /// The attempt was started again, on a connection of its own.
    var mustBeFresh = false
    /// The kept connection had ended: nothing was written, and the attempt is started again.
    var hasEnded = false
    /// How often the attempt was started again for that reason.
    var endings = 0
    /// Its connection is closed when the transfer ends.
    var closesConnection = false
    /// libcurl has ended the transfer.
    var isOver = false
}

/// The route and name of a connection of HTTP/2, by its socket.
struct HTTP2Socket {
    let route: RouteKey
    let name: ConnectionName
}
