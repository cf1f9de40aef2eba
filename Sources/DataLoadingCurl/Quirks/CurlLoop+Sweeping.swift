// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import CCurl

// Quirk: libcurl looks for idle connections that have ended only when it makes a connection.
// While one long stream runs that may never happen, and sockets that servers have closed stay
// open.
//
// Seen on: 7.88.1, 8.14.1 and 8.23.0, on each of which the tests below fail without the code.
// 8.23.0 looks only where an existing connection might be reused.
//
// Upstream: https://github.com/curl/curl/issues/22859, which says that a request is the only
// way to start that look and that libcurl has no function for it.
//
// Remove when libcurl has such a function and these tests pass with it: `DeadConnectionTests`,
// "a connection that its server has ended is closed"; `CurlRetiredTests`, "a reset closes idle
// connections while a stream runs beside them".

extension CurlLoop {
    /// The time after which libcurl looks for dead connections again, in nanoseconds: a second
    /// since its last look, a second of idleness, and a little more.
    private static let sweepInterval: Int64 = 2_100_000_000

    /// Schedules a sweep: an idle connection has ended, or connections were retired.
    func sweepSoon() {
        sweepDeadline = min(sweepDeadline, now.addingSaturated(Self.sweepInterval))
    }

    /// Closes idle connections that have ended, and those of multi handles that get no more
    /// transfers.
    func sweepIfDue() {
        guard sweepDeadline <= now else { return }
        sweepDeadline = .max
        for multi in http1.all { multi.sweep(maxIdleSeconds: CurlTransfer.maxIdleSeconds) }
        http2?.sweep(maxIdleSeconds: CurlTransfer.maxIdleSeconds)
        // libcurl counts whole seconds. From the version that counts milliseconds on (seen on
        // 8.23.0) zero means no limit.
        for old in retired { old.sweep(maxIdleSeconds: 1) }
        if retired.contains(where: { $0.idleConnections > 0 }) { sweepSoon() }
    }
}

extension CurlMulti {
    /// Makes libcurl close connections that have ended or were idle for longer.
    ///
    /// libcurl does so before it opens a connection. This transfer gets no socket for one, and
    /// its address is that of no existing connection.
    fileprivate func sweep(maxIdleSeconds: Int) {
        guard let easy = ccurl_easy_init() else { return }
        defer { ccurl_easy_cleanup(easy) }
        let isSet = [
            ccurl_set_pointer(easy, CurlOption.url, "http://255.255.255.255:9/"),
            ccurl_set_pointer(easy, CurlOption.proxy, ""),
            ccurl_set_long(easy, CurlOption.noSignal, 1),
            ccurl_set_long(easy, CurlOption.maximumIdleAge, maxIdleSeconds),
            ccurl_set_open_callback(easy, CurlOption.openSocketFunction) { _, _, _ in
                CurlSignal.badSocket
            },
        ]
        if isSet.allSatisfy({ $0 == 0 }) { look(with: easy) }
    }
}
