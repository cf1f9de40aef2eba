// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import CCurl

// Quirk: no result of libcurl says that a server did not process a request over HTTP/2. A
// GOAWAY says so of every stream above its last one (RFC 9113 section 6.8), a RST_STREAM with
// REFUSED_STREAM of its own stream (section 8.7). libcurl resends the request instead,
// `Curl_retry_request` in lib/transfer.c, as it does after a connection that has died. Only its
// debug texts differ:
//
// "recveived GOAWAY, error=0, last_stream=1" and "Using Stream ID: 3 (easy handle …)" in
// lib/http2.c, "REFUSED_STREAM, retrying a fresh connect" in lib/transfer.c on 7.88.1. On
// 8.14.1 and 8.23.0 the first two are "received GOAWAY, …" and "[HTTP/2] [3] OPENED stream for
// …". A reset with HTTP_1_1_REQUIRED is "HTTP/2 stream 1 was not closed cleanly:
// HTTP_1_1_REQUIRED (err 13)" on 7.88.1 and 8.14.1, and "HTTP/2 stream 1 reset by server (error
// 0xd HTTP_1_1_REQUIRED)" on 8.23.0.
//
// On a connection that was open before the attempt, 7.88.1 and 8.14.1 print nothing about
// REFUSED_STREAM, and do the same as after a broken frame. Such a request counts as written.
// 8.23.0 prints on every connection "HTTP/2 stream 1 refused by server, try again on a new
// connection".
//
// A GOAWAY belongs to the connection of the transfer whose text it is, with one exception:
// while libcurl looks for a connection to resend a request on ("Connection died, retrying a
// fresh connect" in lib/transfer.c), it reads what idle connections have received. Their GOAWAY
// says nothing about the streams of the connection that died; treating it so sent POSTs twice
// that a server had processed. A GOAWAY is also ignored for a request that libcurl wants to
// resend over HTTP/1.1.
//
// Seen on: 7.88.1, 8.14.1 and 8.23.0.
//
// Upstream: https://github.com/curl/curl/pull/12054, and for the resend of a written request
// https://github.com/curl/curl/pull/18417 (open in 2026).
//
// Remove when libcurl has a result for refused streams and `HTTP2RefusalTests`, "a POST whose
// stream was refused is sent again", passes with it.

extension CurlTransfer {
    /// Prepares the debug texts, which cost time; only where libcurl may speak HTTP/2.
    func prepareRefusalDetection() throws(DataLoaderError) {
        try check(
            ccurl_set_debug_callback(easy, CurlOption.debugFunction, CurlCallback.debug))
        try set(CurlOption.debugData, pointer: UnsafeRawPointer(context))
        try pauseRefusalDetection()
    }

    /// Stops the debug texts until the request is about to be written.
    ///
    /// Nothing that is printed before says anything of its stream. A connection that is opened
    /// without them does not describe each of its TLS records later (`ossl_trace` in
    /// lib/vtls/openssl.c).
    func pauseRefusalDetection() throws(DataLoaderError) {
        try set(CurlOption.verbose, loop.library.canRefuseSends ? 0 : 1)
    }

    /// Makes libcurl print its debug texts; the request is about to be written.
    func startRefusalDetection() {
        guard shape?.isHTTP2 == true else { return }
        ccurl_set_long(easy, CurlOption.verbose, 1)
    }

    /// Evaluates one of libcurl's debug texts.
    func receiveText(_ text: UnsafeRawBufferPointer) {
        switch text.first {
        case UInt8(ascii: "U"):
            loop.noteStream(Self.number(in: text, after: "Using Stream ID: "), of: self)
        case UInt8(ascii: "["):
            guard Self.end(of: "] OPENED stream", in: text) != nil else { return }
            loop.noteStream(Self.number(in: text, after: "[HTTP/2] ["), of: self)
        case UInt8(ascii: "C"):
            if text.starts(with: "Connection died, retrying".utf8) {
                state.isBeingResent = true
            }
        case UInt8(ascii: "r"):
            guard !state.isBeingResent, !state.wantsHTTP1,
                Self.end(of: "GOAWAY, error=", in: text) != nil,
                let last = Self.number(in: text, after: "last_stream="),
                let connection = state.connection
            else { return }
            loop.noteUnprocessed(after: last, on: connection)
        case UInt8(ascii: "R"):
            if text.starts(with: "REFUSED_STREAM, retrying".utf8) {
                state.isUnprocessed = true
            }
        case UInt8(ascii: "H"):
            // RFC 9113 section 7; libcurl would resend the request over HTTP/1.1.
            if Self.end(of: "not closed cleanly: HTTP_1_1_REQUIRED", in: text) != nil
                || Self.end(of: "reset by server (error 0xd ", in: text) != nil
            {
                state.wantsHTTP1 = true
            } else if state.response.bytes == 0,
                Self.end(of: " refused by server, try again on a new", in: text) != nil
            {
                state.isUnprocessed = true
            }
        default: break
        }
    }

    /// Returns the decimal number after a word; nil where there is none.
    private static func number(
        in text: UnsafeRawBufferPointer, after word: StaticString
    ) -> UInt32? {
        guard let start = end(of: word, in: text) else { return nil }
        let digits = text[start...].prefix(while: \.isDigit)
        return UInt32(String(decoding: digits, as: UTF8.self))
    }

    /// Returns the end of the first occurrence of a word.
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
