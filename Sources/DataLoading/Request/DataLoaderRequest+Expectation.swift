// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension DataLoaderRequest {
    // A redirect to another origin keeps the option: its value is not for one origin.
    private enum ExpectContinue: RequestOption {
        static let defaultValue = true
        static var staysWithOrigin: Bool { false }
    }

    /// Whether a large body waits for the server, by `Expect: 100-continue`; default true.
    ///
    /// ```swift
    /// request.expectsContinue = false
    /// ```
    /// The transport holds back a body of 1 MiB or more, and a body of unknown length, until the
    /// server answers 100 or for 1 s. It sends nothing of the body when the server answers with a
    /// final status instead, such as 401, 413 or a redirect. The round trip is short compared with
    /// the time for such a body. For smaller bodies it is not; curl uses the same threshold.
    ///
    /// A 417 means that the server or a proxy does not support the expectation. The load ends with
    /// that status, perhaps without its body. Set it to false for requests to that server.
    ///
    /// Only `CurlTransport` with libcurl 7.80 or later holds bodies back, and only over HTTP/1.1.
    /// `URLSessionTransport` ignores it.
    public var expectsContinue: Bool {
        get { self[option: ExpectContinue.self] }
        set { self[option: ExpectContinue.self] = newValue }
    }
}
