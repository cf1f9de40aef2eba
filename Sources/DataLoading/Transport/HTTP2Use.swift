// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Whether `CurlTransport` offers HTTP/2 to https servers.
///
/// HTTP/2 needs a libcurl that was built with it, 7.80 or later; without that HTTP/1.1 is spoken,
/// whatever is set here. Streamed responses and plain http always use HTTP/1.1.
public enum HTTP2Use: Hashable, Sendable {
    /// Offered with libcurl 8.5.0 or later; with an older one everything is HTTP/1.1.
    ///
    /// Before 8.5.0 libcurl itself may send a request on an HTTP/1.1 connection that is in use, once
    /// a server has spoken both protocols (curl commit 1c37d472a0).
    case automatic
    /// Offered with every libcurl that can. The transport keeps the protocols apart by itself, and
    /// refuses a send on a connection that is in use and cannot carry two requests.
    case always
    /// Never offered.
    case never
}
