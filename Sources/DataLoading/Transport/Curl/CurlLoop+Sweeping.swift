// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import CCurl

    extension CurlLoop {
        /// How long after its last look libcurl looks for dead connections again, a second that a
        /// connection is idle, and a little more.
        private static let sweepPause: Int64 = 2_100_000_000

        /// Has connections looked at soon that nothing uses: one of them has ended, or all are to go.
        func sweepSoon() {
            sweepDeadline = min(sweepDeadline, now.addingSaturated(Self.sweepPause))
        }

        /// Closes idle connections that have ended, and those of handles that get no more transfers.
        ///
        /// libcurl looks for them only when it makes a connection, and while one long stream runs
        /// that may be never.
        func sweepIfDue() {
            guard sweepDeadline <= now else { return }
            sweepDeadline = .max
            http1?.sweep(longestIdle: CurlTransfer.longestIdle)
            http2?.sweep(longestIdle: CurlTransfer.longestIdle)
            // libcurl counts whole seconds; none would stand for no limit from the version on that counts
            // milliseconds (seen on 8.23.0).
            for old in retired { old.sweep(longestIdle: 1) }
            if retired.contains(where: { $0.idleConnections > 0 }) { sweepSoon() }
        }
    }

    extension CurlMulti {
        /// Has libcurl close connections that have ended or were idle for more than so many seconds.
        ///
        /// It does so before it makes a connection: here one for which it gets no socket, to an address
        /// that no connection leads to. 8.23.0 does so only where one that is there might be used again.
        fileprivate func sweep(longestIdle: Int) {
            guard let easy = ccurl_easy_init() else { return }
            defer { ccurl_easy_cleanup(easy) }
            let isSet = [
                ccurl_set_pointer(easy, CurlOption.url, "http://255.255.255.255:9/"),
                ccurl_set_pointer(easy, CurlOption.proxy, ""),
                ccurl_set_long(easy, CurlOption.noSignal, 1),
                ccurl_set_long(easy, CurlOption.maximumIdleAge, longestIdle),
                ccurl_set_open_callback(easy, CurlOption.openSocketFunction) { _, _, _ in
                    CurlSignal.badSocket
                },
            ]
            guard isSet.allSatisfy({ $0 == 0 }), add(easy) else { return }
            act(CurlSignal.timeout, 0)
            remove(easy)
        }
    }
#endif
