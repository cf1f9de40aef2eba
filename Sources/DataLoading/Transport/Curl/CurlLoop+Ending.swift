// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import CCurl
    import Foundation

    extension CurlLoop {
        /// Forgets connections, names and handles; transfers that run keep theirs until they end.
        ///
        /// A handle has the field lines and small bodies of its last attempt, and TLS sessions.
        func reset() {
            resets &+= 1
            names.removeAll()
            for transfer in pool { transfer.free() }
            pool = []
            dropIdleConnections()
            routes.forget()
        }

        /// Lets connections go; transfers that run keep theirs until they end.
        func dropIdleConnections() {
            retireConnections()
            closeRetired()
        }

        /// Closes the connections of a loop that has had nothing to do for their lifetime.
        ///
        /// libcurl itself would only do that when it next looks for a connection, and until then
        /// keep sockets that servers have long closed.
        func closeIdle() {
            guard running.isEmpty, http1 != nil || http2 != nil else {
                return idleDeadline = .max
            }
            if idleDeadline == .max {
                idleDeadline = LoopClock.instant(now, after: idle.lifetime)
            } else if idleDeadline <= now {
                idleDeadline = .max
                retireConnections()
            }
        }

        func closeRetired() {
            guard !retired.isEmpty else { return }
            for old in retired where old.transfers == 0 { old.close() }
            retired.removeAll { $0.transfers == 0 }
        }

        /// Memory for a word that a connection may write after its transfer has ended.
        func takeNotice() -> UnsafeMutablePointer<Int32> {
            if let spare = spareNotices.popLast() { return spare }
            let notice = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
            notice.initialize(to: 0)
            return notice
        }

        func giveBack(_ notice: UnsafeMutablePointer<Int32>) {
            spareNotices.append(notice)
        }

        /// Ends everything, and refuses what still comes.
        func close() {
            resolver.stop()
            for transfer in Array(running.values) { finish(transfer, .serviceInvalidated) }
            for message in mailbox.close() { refuse(message) }
            reset()
            for transfer in pool { transfer.free() }
            pool = []
            sockets = []
        }

        /// Answers a message that came too late.
        func refuse(_ message: LoopMessage) {
            switch message {
            case .start(let task):
                task.sink.didFail(TransportFailure(.serviceInvalidated, sent: .nothingWritten))
            case .reset(let done): done()
            default: break
            }
        }

        /// The peer's numeric address; one text for all attempts in a row to the same peer.
        func remoteAddress(of easy: OpaquePointer) -> String? {
            var text: UnsafePointer<CChar>?
            guard ccurl_get_text(easy, CurlInfo.remoteAddress, &text) == 0, let text,
                text.pointee != 0
            else { return nil }
            let bytes = UnsafeRawBufferPointer(start: text, count: strlen(text))
            if !lastRemoteAddress.utf8.elementsEqual(bytes) {
                lastRemoteAddress = String(decoding: bytes, as: UTF8.self)
            }
            return lastRemoteAddress
        }
    }
#endif
