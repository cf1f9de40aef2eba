// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    /// Where an attempt belongs among the connections, as far as it got.
    struct CurlPlace {
        /// The route, where it is not known to speak HTTP/1.1 alone.
        var route: RouteKey?
        /// Whether HTTP/2 is offered, in the multi handle that is there for that.
        var isHTTP2 = false
        /// Whether HTTP/2 is offered to find out whether the server speaks it by now.
        var isProbe = false
        /// The sockets that were opened for the attempt, of which some may be closed.
        var sockets: [Int32] = []
        /// Whether the connection speaks HTTP/2; nil while that is not known.
        var speaksHTTP2: Bool?
        /// Whether the attempt counts as a user of its connection, which others may join.
        var isCounted = false
        /// The connection was in use: nothing was written, and the attempt is to be made anew.
        var isMisplaced = false
        /// It has been made anew, on a connection of its own.
        var mustBeFresh = false
        /// The kept connection had ended: nothing was written, and the attempt is to be made anew.
        var hasEnded = false
        /// How often it has been made anew for that.
        var endings = 0
        /// Its connection is closed with it.
        var closesConnection = false
        /// libcurl has ended the transfer.
        var isOver = false
    }

    /// What is known of the socket of a connection of HTTP/2.
    struct HTTP2Socket {
        let route: RouteKey
        let name: ConnectionName
    }
#endif
