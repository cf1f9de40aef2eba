// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import CCurl

/// libcurl's callbacks, which find their transfer or loop and forward to it.
enum CurlCallback {
    static let header: ccurl_data_callback = { bytes, size, count, context in
        let (length, overflow) = size.multipliedReportingOverflow(by: count)
        guard let transfer = CurlTransfer.from(context), !overflow else { return 0 }
        let line = UnsafeRawBufferPointer(start: bytes, count: length)
        return transfer.receiveHeader(line) ? length : 0
    }

    static let write: ccurl_data_callback = { bytes, size, count, context in
        let (length, overflow) = size.multipliedReportingOverflow(by: count)
        guard let transfer = CurlTransfer.from(context), !overflow else { return 0 }
        return transfer.receiveBody(UnsafeRawBufferPointer(start: bytes, count: length))
    }

    static let read: ccurl_data_callback = { bytes, size, count, context in
        let (length, overflow) = size.multipliedReportingOverflow(by: count)
        guard let transfer = CurlTransfer.from(context), !overflow else {
            return CurlSignal.abortRead
        }
        return transfer.readBody(UnsafeMutableRawBufferPointer(start: bytes, count: length))
    }

    static let debug: ccurl_debug_callback = { _, kind, text, count, context in
        // CURLINFO_TEXT; the other kinds are bytes sent and received.
        guard kind == 0, count > 0 else { return 0 }
        CurlTransfer.from(context)?.receiveText(
            UnsafeRawBufferPointer(start: text, count: count))
        return 0
    }

    static let send: ccurl_send_callback = { context, peer, _, peerPort, localPort in
        // CURL_PREREQFUNC_OK or CURL_PREREQFUNC_ABORT
        guard let transfer = CurlTransfer.from(context) else { return 1 }
        let name = ConnectionName(
            localPort: Int(localPort), peer: peer.map { CurlTransfer.addressBytes($0) } ?? [],
            peerPort: Int(peerPort))
        return transfer.willSend(on: name) ? 0 : 1
    }

    static let open: ccurl_open_callback = { context, _, address in
        guard let transfer = CurlTransfer.from(context), let address else {
            return CurlSignal.badSocket
        }
        return transfer.openSocket(address)
    }

    static let close: ccurl_close_callback = { context, socket in
        CurlLoop.from(context)?.closeSocket(socket)
        return 0
    }

    static let socket: ccurl_socket_callback = { easy, socket, what, context, _ in
        CurlMulti.from(context)?.watch(socket, what, for: easy)
        return 0
    }

    static let timer: ccurl_timer_callback = { _, milliseconds, context in
        CurlMulti.from(context)?.setTimer(milliseconds)
        return 0
    }
}
