// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    /// What is done for the sake of certain versions of libcurl: a file for each quirk, which says on
    /// which versions it was seen, where libcurl's maintainers know of it, and which test fails
    /// without the workaround wherever it is still needed.
    ///
    /// "Seen on" names the versions that continuous integration runs the tests with. Nothing is said
    /// of versions in between unless there is a source for it.
    ///
    /// What is too small for a file stands where it is needed, and is listed here:
    /// - A request is sent again behind its caller's back (`CurlTransfer+Send`): by design, seen on all
    ///   three versions, https://github.com/curl/curl/pull/18417; `CurlGuardTests`, "sends a POST once,
    ///   though its connection went stale".
    /// - An end inside a head is a success (`CurlTransfer+Report`): seen on 7.88.1; `CurlFaultTests` and
    ///   rows 6 and 7 of `FaultTable`.
    /// - An end of TLS without close_notify ends a body (`ccurl_watch_notice`): it depends on OpenSSL, as
    ///   https://github.com/curl/curl/issues/17471 says; `FaultTable+Body`, the cells that end silently.
    /// - A body after a 417 is dropped (`CurlTransfer+Send`): https://github.com/curl/curl/issues/11678
    ///   is near it; `CurlExpectTests`, "a 417 on a connection that stays open is sent nothing more".
    /// - Cut-off gzip is a success, bombs are buffered (`ContentDecoder`): seen on 7.88.1;
    ///   `CurlDecodingTests`, "refuses gzip that is cut off".
    /// - CURLINFO_ACTIVESOCKET is told late (`CurlLoop+Deadlines`): seen on 7.88.1; row 38 of
    ///   `FaultTable`, "a connection that has died".
    enum CurlQuirks {}
#endif
