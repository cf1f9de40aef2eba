// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import CCurl

// Quirk: where a body ends with its connection, libcurl takes any end of the connection as that
// of the body. An attacker can truncate such a body by a TCP FIN.
//
// Seen on: 7.88.1; it depends on the version of OpenSSL.
//
// Upstream: https://github.com/curl/curl/issues/17471 (from OpenSSL 3.2 on the missing
// close_notify is an error).
//
// Remove when these tests pass without it on every supported version: `FaultMatrix`, the cells
// that end a body over TLS without a close_notify.

extension CurlTransfer {
    /// Watches for a close_notify when the body ends with its connection of TLS.
    func watchForCloseNotify() {
        guard state.response.framing == .untilClose, origin?.isSecure == true,
            state.response.minorVersion != nil
        else { return }
        state.needsCloseNotify = ccurl_watch_close_notify(easy, closeNotifyFlag) == 0
    }

    /// Whether the body ended with its connection before a close_notify.
    var lacksCloseNotify: Bool { state.needsCloseNotify && closeNotifyFlag.pointee == 0 }
}

extension CurlLoop {
    /// Returns memory for a flag that a connection may set after its transfer has ended.
    func takeCloseNotifyFlag() -> UnsafeMutablePointer<Int32> {
        if let spare = spareCloseNotifyFlags.popLast() { return spare }
        let notice = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
        notice.initialize(to: 0)
        return notice
    }

    func returnCloseNotifyFlag(_ notice: UnsafeMutablePointer<Int32>) {
        spareCloseNotifyFlags.append(notice)
    }
}
