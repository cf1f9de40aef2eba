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
    /// - An end inside a head is a success (`CurlTransfer+Report`): seen on 7.88.1 and 8.23.0;
    ///   `CurlFaultTests` and rows 6 and 7 of `FaultTable`.
    /// - An end of TLS without close_notify ends a body (`ccurl_watch_notice`): it depends on OpenSSL, as
    ///   https://github.com/curl/curl/issues/17471 says; `FaultTable+Body`, the cells that end silently.
    /// - A body after a 417 is dropped (`CurlTransfer+Send`): https://github.com/curl/curl/issues/11678
    ///   is near it; `CurlExpectTests`, "a 417 on a connection that stays open is sent nothing more".
    /// - Cut-off gzip is a success, bombs are buffered (`ContentDecoder`): seen on 7.88.1;
    ///   `CurlDecodingTests`, "refuses gzip that is cut off".
    /// - A connection of HTTP/1.1 that is in use is taken for one of HTTP/2 (`CurlLoop+Sharing`): seen on
    ///   7.88.1, mended in 8.5.0 by curl's commit 1c37d472a0; `CurlRouteTests`, "nothing is sent on a
    ///   connection of HTTP/1.1 that is in use".
    /// - A connection of HTTP/2 in use is joined however old it is (`RouteTable`): seen on 7.88.1 and
    ///   8.14.1, not on 8.23.0, https://github.com/curl/curl/pull/22671; `CurlRouteTests`, "a connection
    ///   that is old takes no new attempt, however busy it is".
    /// - A GOAWAY does not keep a stream from being opened behind it (`CurlLoop+Connections`): seen on
    ///   7.88.1; `SecureConnectionTests`, "loses no POST to connections that end after fifty requests".
    /// - CURLINFO_ACTIVESOCKET is told late (`CurlLoop+Deadlines`): seen on 7.88.1; row 38 of
    ///   `FaultTable`, "a connection that has died".
    enum CurlQuirks {}
#endif
