// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension DataLoaderRequest {
    // A redirect to another origin keeps the option: its value is not for one origin.
    private enum ResumesBrokenBodies: RequestOption {
        static let defaultValue = true
        static var staysWithOrigin: Bool { false }
    }

    /// Whether a retry requests only the rest of a body that broke off; default true.
    ///
    /// ```swift
    /// request.resumesBrokenBodies = false
    /// ```
    /// A body is resumed only when the request may be retried and is a GET without a `Range` or
    /// `If-Range` of its own. The response must be a 200 without a content coding and without
    /// `Accept-Ranges: none`, and must have a strong validator. A strong validator is an `ETag`
    /// without `W/`, or, in a response without an `ETag`, a `Last-Modified` at least a minute
    /// before the `Date`.
    ///
    /// The retry sends `Range` and `If-Range`. The load appends its body only when the server
    /// answers 206 with a `Content-Range` that starts exactly where the body broke, with the same
    /// total length and the same validator. The load then delivers the head of the 200 and the
    /// whole body.
    ///
    /// If the server answers 200 without a content coding, the body starts over. After any other
    /// answer to the range (a 416, a 206 that does not match, several ranges), the next retry
    /// requests the whole body. When bytes were already delivered to a reader of chunks, a stream
    /// or a closure, the body cannot start over. The load then ends with the error that broke the
    /// body.
    public var resumesBrokenBodies: Bool {
        get { self[option: ResumesBrokenBodies.self] }
        set { self[option: ResumesBrokenBodies.self] = newValue }
    }
}
