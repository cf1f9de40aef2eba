// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import CCurl

    /// What HTTP/2 says was not processed, read from what libcurl says to people.
    ///
    /// A GOAWAY says so of every stream above its last one (RFC 9113 section 6.8), a RST_STREAM with
    /// REFUSED_STREAM of its own (section 8.7). libcurl tells neither by a result: it sends the request
    /// again, `Curl_retry_request` in lib/transfer.c, as it does on a connection that has died. Only its
    /// texts differ: "recveived GOAWAY, error=0, last_stream=1" and "Using Stream ID: 3 (easy handle …)"
    /// in lib/http2.c, "REFUSED_STREAM, retrying a fresh connect" in lib/transfer.c. They were seen
    /// with 7.88.1; with 8.14.1 and 8.23.0 the first two are "received GOAWAY, …" and
    /// "[HTTP/2] [3] OPENED stream for …". That a stream was reset with HTTP_1_1_REQUIRED is "HTTP/2 stream
    /// 1 was not closed cleanly: HTTP_1_1_REQUIRED (err 13)" with 7.88.1 and 8.14.1, and "HTTP/2 stream 1
    /// reset by server (error 0xd HTTP_1_1_REQUIRED)" with 8.23.0.
    ///
    /// On a connection that was there before the attempt 7.88.1 and 8.14.1 say nothing of REFUSED_STREAM,
    /// and do what they also do after a broken frame. Such a request counts as written. 8.23.0 says, on
    /// every connection, "HTTP/2 stream 1 refused by server, try again on a new connection".
    ///
    /// A GOAWAY is that of the connection whose stream hears of it, but for one case: while libcurl looks
    /// for a connection to send a request on again, "Connection died, retrying a fresh connect" in
    /// lib/transfer.c, it reads what idle ones have received. Theirs says nothing of the streams of the
    /// connection that died; POSTs that a server had worked on were sent twice by it. Nor is one read for
    /// a request that is to be sent again over HTTP/1.1.
    ///
    /// Upstream: https://github.com/curl/curl/pull/12054, and for the repetition of what was written,
    /// https://github.com/curl/curl/pull/18417 (open in 2026).
    ///
    /// Once libcurl has a result for streams that were refused, this file can go: then
    /// `HTTP2RefusalTests` holds without it.
    extension CurlTransfer {
        /// Makes libcurl say what it does; only where it may speak HTTP/2, because talking costs.
        func listenForRefusals() throws(DataLoaderError) {
            try set(CurlOption.verbose, 1)
            try check(
                ccurl_set_debug_callback(easy, CurlOption.debugFunction, CurlCallback.debug))
            try set(CurlOption.debugData, pointer: UnsafeRawPointer(context))
        }

        /// Takes one of libcurl's texts; most of them say nothing that matters here.
        func receiveText(_ text: UnsafeRawBufferPointer) {
            switch text.first {
            case UInt8(ascii: "U"):
                loop.noteStream(Self.number(in: text, after: "Using Stream ID: "), of: self)
            case UInt8(ascii: "["):
                guard Self.end(of: "] OPENED stream", in: text) != nil else { return }
                loop.noteStream(Self.number(in: text, after: "[HTTP/2] ["), of: self)
            case UInt8(ascii: "C"):
                if text.starts(with: "Connection died, retrying".utf8) {
                    attempt.isSentAgain = true
                }
            case UInt8(ascii: "r"):
                guard !attempt.isSentAgain, !attempt.wantsHTTP1,
                    Self.end(of: "GOAWAY, error=", in: text) != nil,
                    let last = Self.number(in: text, after: "last_stream="),
                    let connection = attempt.connection
                else { return }
                loop.noteUnprocessed(after: last, on: connection)
            case UInt8(ascii: "R"):
                if text.starts(with: "REFUSED_STREAM, retrying".utf8) {
                    attempt.isUnprocessed = true
                }
            case UInt8(ascii: "H"):
                // RFC 9113 section 7; libcurl would send the request again, over HTTP/1.1.
                if Self.end(of: "not closed cleanly: HTTP_1_1_REQUIRED", in: text) != nil
                    || Self.end(of: "reset by server (error 0xd ", in: text) != nil
                {
                    attempt.wantsHTTP1 = true
                } else if attempt.response.bytes == 0,
                    Self.end(of: " refused by server, try again on a new", in: text) != nil
                {
                    attempt.isUnprocessed = true
                }
            default: break
            }
        }

        /// The decimal number behind a word; nil where there is none.
        private static func number(
            in text: UnsafeRawBufferPointer, after word: StaticString
        ) -> UInt32? {
            guard let start = end(of: word, in: text) else { return nil }
            let digits = text[start...].prefix(while: \.isDigit)
            return UInt32(String(decoding: digits, as: UTF8.self))
        }

        /// Where a word ends that stands anywhere in a text.
        private static func end(of word: StaticString, in text: UnsafeRawBufferPointer) -> Int? {
            let count = word.utf8CodeUnitCount
            let bytes = UnsafeBufferPointer(start: word.utf8Start, count: count)
            guard text.count >= count else { return nil }
            for start in 0...(text.count - count)
            where text[start..<(start + count)].elementsEqual(bytes) {
                return start + count
            }
            return nil
        }
    }
#endif
