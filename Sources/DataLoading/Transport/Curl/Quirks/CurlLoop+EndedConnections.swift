// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import CCurl

    extension CurlLibrary {
        /// Whether kept connections are looked at, before each use, for whether their peer has ended them.
        ///
        /// libcurl takes some that have ended. What is written to them is lost, and a request that may not
        /// be sent twice with it.
        ///
        /// 8.23.0 asks no more than once a second: https://github.com/curl/curl/pull/22169, which lib/url.c
        /// of 8.21.0 does not have. 8.14.1 asks at each use, and takes a connection of HTTP/2 that was
        /// closed without a GOAWAY; no upstream issue is known here. Nothing is done on 7.88.1, which also
        /// takes one of TLS whose peer has said that it closes it: https://github.com/curl/curl/pull/10690.
        /// The line is drawn where HTTP/2 is used unasked.
        ///
        /// To be let go when these tests hold without it on every supported version: `CurlEndedTests`, and
        /// rows 3 and 7 of `FaultTable`.
        var looksAtKept: Bool { version >= 0x08_05_00 }
    }

    extension CurlLoop {
        /// Notes the descriptor of a connection that an attempt has made.
        func noteOpen(_ socket: Int32, _ name: ConnectionName) {
            guard library.looksAtKept else { return }
            sockets[Int(socket)].name = name
            descriptors[name] = socket
        }

        func noteClosed(_ socket: Int32) {
            let index = Int(socket)
            guard sockets.indices.contains(index), let name = sockets[index].name else { return }
            sockets[index].name = nil
            if descriptors[name] == socket { descriptors[name] = nil }
        }

        /// Whether a kept connection, which an attempt is about to use, has ended.
        ///
        /// Over HTTP/1.1 a peer says nothing between two answers, unless it is that it closes. Over
        /// HTTP/2 it may, and where others use the connection libcurl hears of its end by itself.
        func hasEnded(_ name: ConnectionName, for transfer: CurlTransfer) -> Bool {
            guard let socket = descriptors[name] else { return false }
            let state = ccurl_peer_state(socket)
            if http2Sockets[socket] == nil { return state > 0 }
            return state == 2
                && !running.values.contains {
                    $0 !== transfer && $0.attempt.connection == name
                }
        }

        /// Has libcurl close the connection, and the attempt made anew once it has.
        func giveUpEnded(_ transfer: CurlTransfer) {
            ccurl_set_long(transfer.easy, CurlOption.forbidReuse, 1)
            transfer.attempt.place.hasEnded = true
        }

        /// Makes an attempt anew whose connection had ended: at the second time, on one of its own.
        func startAgain(_ transfer: CurlTransfer) {
            guard takeBack(transfer) else { return finish(transfer, .cancelled) }
            // Its handle closes every connection as it is.
            transfer.shape = nil
            var place = CurlPlace()
            place.endings = transfer.attempt.place.endings + 1
            transfer.attempt.place = place
            direct(transfer)
        }
    }
#endif
