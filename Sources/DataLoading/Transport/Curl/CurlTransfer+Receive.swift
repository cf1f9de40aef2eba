// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import CCurl
    import Foundation

    extension CurlTransfer {
        /// Takes one line of a head or trailer; false to end the transfer.
        func receiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
            guard let task, !task.isCancelled else { return false }
            attempt.lastActivity = loop.now
            if attempt.firstByte == nil { attempt.firstByte = LoopClock.now }
            do throws(DataLoaderError) {
                switch try attempt.response.receive(line) {
                case nil: break
                case .informational(let head): task.sink.didReceiveInformational(head)
                case .final(let head): try receiveHead(head, task)
                }
                return true
            } catch {
                attempt.stop = error
                return false
            }
        }

        private func receiveHead(
            _ head: ResponseHead, _ task: CurlTask
        ) throws(DataLoaderError) {
            loop.noteVersion(of: self)
            task.sink.didReceive(head)
            let status = head.status.rawValue
            guard task.request.method != .head, status != 204, status != 304 else {
                attempt.hasBody = false
                return noteWholeAnswer()
            }
            if attempt.response.framing == .untilClose, origin?.isSecure == true,
                attempt.response.minorVersion != nil
            {
                // libcurl takes any end of such a body for its end.
                attempt.needsEndNotice = ccurl_watch_notice(easy, endNotice) == 0
            }
            // Who asked for codings decodes them.
            if attempt.response.isEncoded, !task.request.headers.contains("Accept-Encoding"),
                let coding = head.headers["Content-Encoding"]
            {
                attempt.decoder = try ContentDecoder.make(contentEncoding: coding)
            }
            if attempt.decoder == nil, case .length(let length) = attempt.response.framing,
                let limit = task.request.bodyLimit, length > limit
            {
                throw .bodyTooLarge(limit: limit)
            }
        }

        /// Takes body bytes; what is returned is for libcurl: all of them, a pause, or the end.
        func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
            guard let task, !task.isCancelled else { return 0 }
            do throws(DataLoaderError) {
                guard attempt.response.isComplete else {
                    throw .framing(reason: "a body before its head")
                }
                if attempt.isUndecoded { try decode() }
                // What is not decoded yet has no room for more, whatever the task is by now.
                guard !attempt.isUndecoded, !task.isPaused else {
                    attempt.isHeldBack = true
                    return CurlSignal.pauseData
                }
                attempt.lastActivity = loop.now
                attempt.wireBytes += Int64(bytes.count)
                if let decoder = attempt.decoder {
                    decoder.append(bytes)
                    try decode()
                } else {
                    try deliver(bytes)
                }
                noteWholeAnswer()
                return bytes.count
            } catch {
                attempt.stop = error
                return 0
            }
        }

        /// Decodes what the decoder has, unless the task is paused meanwhile.
        func decode() throws(DataLoaderError) {
            guard let decoder = attempt.decoder, let task else { return }
            attempt.isUndecoded = true
            while !task.isPaused {
                let scratch = loop.scratch
                guard case .output(let count) = try decoder.decode(into: scratch) else {
                    attempt.isUndecoded = false
                    return
                }
                try deliver(UnsafeRawBufferPointer(rebasing: scratch[..<count]))
                guard !task.isCancelled else { throw .cancelled }
            }
        }

        private func deliver(_ bytes: UnsafeRawBufferPointer) throws(DataLoaderError) {
            guard let task, !bytes.isEmpty else { return }
            attempt.decodedBytes += Int64(bytes.count)
            if let limit = task.request.bodyLimit, attempt.decodedBytes > limit {
                throw .bodyTooLarge(limit: limit)
            }
            task.sink.didReceive(Data(bytes))
        }
    }
#endif
