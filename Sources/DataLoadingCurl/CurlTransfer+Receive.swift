// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import CCurl
import Foundation

extension CurlTransfer {
    /// Receives one line of a head or trailer; returns false to end the transfer.
    func receiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        guard let task, !task.isCancelled else { return false }
        state.lastActivity = loop.now
        if state.firstByte == nil { state.firstByte = LoopClock.now }
        do throws(DataLoaderError) {
            // libcurl calls back before it writes the request, and so after the tunnel.
            if let tunnel = state.tunnel, state.sends == 0 {
                return try receiveAnswer(line, of: tunnel, task)
            }
            switch try state.response.receive(line) {
            case nil: break
            case .informational: state.headStart = state.response.bytes
            case .final(let head): try receiveHead(head, task)
            }
            return true
        } catch {
            state.stop = error
            return false
        }
    }

    private func receiveHead(
        _ head: ResponseHead, _ task: CurlTask
    ) throws(DataLoaderError) {
        loop.noteVersion(of: self)
        var head = head
        head.mayLackPieces = mayLosePieces
        task.sink.didReceive(head)
        let status = head.status.rawValue
        guard task.request.method != .head, status != 204, status != 304 else {
            state.hasBody = false
            return noteCompleteResponse()
        }
        watchForCloseNotify()
        // A caller that sets Accept-Encoding decodes the body itself.
        if state.response.isEncoded, !task.request.headers.contains("Accept-Encoding"),
            let coding = head.headers["Content-Encoding"]
        {
            state.decoder = try ContentDecoder.make(contentEncoding: coding)
        }
        if state.decoder == nil, case .length(let length) = state.response.framing,
            let limit = task.request.bodyLimit, length > limit
        {
            throw .bodyTooLarge(limit: limit)
        }
        // No body follows that would tell.
        if case .length(0) = state.response.framing { noteCompleteResponse() }
    }

    /// Receives body bytes; returns what libcurl expects: their count, a pause, or 0 to end.
    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard let task, !task.isCancelled else { return 0 }
        do throws(DataLoaderError) {
            guard state.response.isComplete else {
                throw .framing(reason: "a body before its head")
            }
            if state.isUndecoded { try decode() }
            // While earlier bytes are undecoded there is no room for more, even if the task is
            // not paused now.
            guard !state.isUndecoded, !task.isPaused else {
                state.isHeldBack = true
                return CurlSignal.pauseData
            }
            state.lastActivity = loop.now
            state.wireBytes += Int64(bytes.count)
            if let decoder = state.decoder {
                decoder.append(bytes)
                try decode()
            } else {
                try deliver(bytes)
            }
            noteCompleteResponse()
            return bytes.count
        } catch {
            state.stop = error
            return 0
        }
    }

    /// Decodes the buffered bytes until none is left, the task is paused, or so many pieces of 64 KiB
    /// were decoded, by any of several codings; the loop continues with the others later.
    ///
    /// A few bytes may become gigabytes, and other transfers have the same thread.
    func decode(atMost pieces: Int = 16) throws(DataLoaderError) {
        guard let decoder = state.decoder, let task else { return }
        state.isUndecoded = true
        let begun = decoder.pieces
        while !task.isPaused {
            guard decoder.pieces &- begun < pieces else {
                // As if it had been paused. A loop that ends takes no message, and ends the task.
                _ = task.mailbox.post(.resume(task))
                return
            }
            let scratch = loop.scratch
            guard case .output(let count) = try decoder.decode(into: scratch) else {
                state.isUndecoded = false
                return
            }
            try deliver(UnsafeRawBufferPointer(rebasing: scratch[..<count]))
            guard !task.isCancelled else { throw .cancelled }
        }
    }

    private func deliver(_ bytes: UnsafeRawBufferPointer) throws(DataLoaderError) {
        guard let task, !bytes.isEmpty else { return }
        state.decodedBytes += Int64(bytes.count)
        if let limit = task.request.bodyLimit, state.decodedBytes > limit {
            throw .bodyTooLarge(limit: limit)
        }
        guard task.request.streamsResponse else { return task.sink.didReceive(Data(bytes)) }
        collect(bytes)
    }

    /// Collects the pieces of a streamed body that libcurl receives in a row, which are at most
    /// 16 KiB each: every piece that is handed on may wake the thread that reads the body.
    private func collect(_ bytes: UnsafeRawBufferPointer) {
        if state.collected.isEmpty {
            loop.collecting.append(self)
            // A full buffer is mostly followed by another one.
            if bytes.count >= Self.fullPiece {
                state.collected = Data(capacity: Self.maxCollected)
            }
        }
        state.collected.append(contentsOf: bytes)
        if state.collected.count > Self.maxCollected - Self.fullPiece { handOnCollected() }
    }

    /// Hands on what was collected; it is never kept while the loop waits.
    func handOnCollected() {
        guard !state.collected.isEmpty, let task else { return }
        let bytes = state.collected
        state.collected = Data()
        if !task.isCancelled { task.sink.didReceive(bytes) }
    }

    /// What libcurl hands over at most: CURL_MAX_WRITE_SIZE.
    private static let fullPiece = 16_384
    private static let maxCollected = 65_536
}
