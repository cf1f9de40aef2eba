// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import CCurl
import Foundation

extension CurlLoop {
    /// Drops connections, names and handles; running transfers keep theirs until they end.
    ///
    /// A handle keeps the field lines and small bodies of its last attempt, and TLS sessions.
    func reset() {
        resets &+= 1
        names.removeAll()
        for transfer in pool.removeAll() { transfer.free() }
        dropIdleConnections()
        routes.forget()
        proxyUses = [:]
    }

    /// Drops the idle connections; running transfers keep theirs until they end.
    func dropIdleConnections() {
        retireConnections()
        closeRetired()
    }

    /// Closes the connections of a loop that ran no transfer for their lifetime.
    ///
    /// libcurl closes them only when it next looks for a connection, and until then keeps
    /// sockets that servers have closed long ago.
    func closeIdle() {
        guard running.isEmpty, !http1.all.isEmpty || http2 != nil else {
            return idleDeadline = .max
        }
        if idleDeadline == .max {
            idleDeadline = LoopClock.instant(now, after: idle.lifetime)
        } else if idleDeadline <= now {
            idleDeadline = .max
            retireConnections()
            for transfer in pool.settle() { transfer.free() }
        }
    }

    func closeRetired() {
        guard !retired.isEmpty else { return }
        for old in retired where old.transfers == 0 { old.close() }
        retired.removeAll { $0.transfers == 0 }
    }

    /// Ends every transfer and refuses the messages that are left.
    func close() {
        resolver.stop()
        for transfer in Array(running.values) { finish(transfer, .serviceInvalidated) }
        for message in mailbox.close() { refuse(message) }
        reset()
        for transfer in pool.removeAll() { transfer.free() }
        sockets = []
    }

    /// Refuses a message that came after the end.
    func refuse(_ message: LoopMessage) {
        switch message {
        case .start(let task):
            task.sink.didFail(TransportFailure(.serviceInvalidated, sent: .nothingWritten))
        case .run(let job): job.runElsewhere()
        case .reset(let done), .echo(let done): done()
        default: break
        }
    }

    /// Returns the peer's numeric address; consecutive attempts to the same peer share one
    /// string.
    func remoteAddress(of easy: OpaquePointer) -> String? {
        var text: UnsafePointer<CChar>?
        guard ccurl_get_text(easy, CurlInfo.remoteAddress, &text) == 0, let text,
            text.pointee != 0
        else { return nil }
        let bytes = UnsafeRawBufferPointer(start: text, count: strlen(text))
        let isLast = lastRemoteAddress.utf8.withContiguousStorageIfAvailable {
            UnsafeRawBufferPointer($0).hasSameBytes(as: bytes)
        }
        if isLast != true {
            lastRemoteAddress = String(decoding: bytes, as: UTF8.self)
        }
        return lastRemoteAddress
    }
}
