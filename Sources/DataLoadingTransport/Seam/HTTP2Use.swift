// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Whether `CurlTransport` offers HTTP/2 to https servers.
///
/// HTTP/2 needs libcurl 7.80 or later, built with it; otherwise every request uses HTTP/1.1,
/// whatever is set here. Streamed responses and plain http always use HTTP/1.1.
public enum HTTP2Use: Hashable, Sendable {
    /// Offers HTTP/2 with libcurl 8.5.0 or later, and uses HTTP/1.1 with older ones.
    ///
    /// Before 8.5.0 libcurl itself may send a request on an HTTP/1.1 connection that is in use,
    /// once a server has spoken both protocols (curl commit 1c37d472a0).
    case automatic
    /// Offers HTTP/2 with every libcurl that supports it.
    ///
    /// The transport keeps the protocols apart by itself, and refuses a send on a connection that
    /// is in use and cannot carry two requests. libcurl before 8.1.0 may lose pieces of bodies
    /// where requests share a connection: a body that declares its length is then loaded again, if
    /// the request may be retried, and ends `.truncatedBody` otherwise. In a body without a length
    /// and without a content coding, no program can detect that a piece is missing.
    case always
    /// Never offers HTTP/2.
    case never
}
