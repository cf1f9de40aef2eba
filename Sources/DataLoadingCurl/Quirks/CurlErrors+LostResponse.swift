// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

// Quirk: over HTTP/2 a server may send a complete response and then RST_STREAM with NO_ERROR
// for the rest of the request (RFC 9113 section 8.1). Where libcurl reads both at once, the
// response head never leaves its buffer: `cf_h2_recv` in lib/http2.c returns the end of the
// stream instead. The result is 92 without a text, and the response cannot be read from
// outside.
//
// Seen on: 7.88.1 with Apache, nginx, Caddy and lighttpd; not on 8.14.1 and 8.23.0.
//
// Upstream: no upstream report known; https://github.com/curl/curl/issues/986 is an older form
// of it.
//
// Remove with support for 7.88, when this test passes without it: `HTTP2EarlyAnswerTests`, "a
// response with the end of its stream is delivered or reported as lost".

extension CurlErrors {
    /// The reason of a result 92 without a text, which says that the request may have been
    /// processed.
    static let lostResponse = "the stream was ended while the request was sent"
}
