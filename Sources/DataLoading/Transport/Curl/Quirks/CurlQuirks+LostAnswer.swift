// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    extension CurlQuirks {
        /// What a result 92 without a text comes to: over HTTP/2 a server has ended the stream while the
        /// request's body was on its way.
        ///
        /// It may have answered: RFC 9113 section 8.1 lets it send a whole response, and then a RST_STREAM
        /// with NO_ERROR for the rest of the request. Where libcurl 7.88.1 reads both at once, the head
        /// never leaves its own buffer, and nothing can get at it from outside (`cf_h2_recv` in
        /// lib/http2.c hands over the end of the stream in its place). The error says that the request may
        /// have been processed. Seen on 7.88.1 with Apache, nginx, Caddy and lighttpd; not on 8.14.1 and
        /// 8.23.0. No upstream issue is known here.
        ///
        /// To be let go with libcurl below that: `HTTP2EarlyAnswerTests`, "an answer and the end of its
        /// stream at once".
        static let lostAnswer = "the stream was ended while the request was sent"
    }
#endif
