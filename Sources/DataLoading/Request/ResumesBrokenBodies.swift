// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Makes a retry request only the rest of a body that broke off; default true.
///
/// ```swift
/// request[option: ResumesBrokenBodies.self] = false
/// ```
/// A body is resumed only when the request may be retried and is a GET without a `Range` or
/// `If-Range` of its own. The response must be a 200 without a content coding and without
/// `Accept-Ranges: none`, and must have a strong validator. A strong validator is an `ETag` without
/// `W/`, or, in a response without an `ETag`, a `Last-Modified` at least a minute before the
/// `Date`.
///
/// The retry sends `Range` and `If-Range`. The load appends its body only when the server answers
/// 206 with a `Content-Range` that starts exactly where the body broke, with the same total length
/// and the same validator. The load then delivers the head of the 200 and the whole body.
///
/// If the server answers 200 without a content coding, the body starts over. After any other answer
/// to the range (a 416, a 206 that does not match, several ranges), the next retry requests the
/// whole body. When bytes were already delivered to a reader of chunks, a stream or a closure, the
/// body cannot start over. The load then ends with the error that broke the body.
public enum ResumesBrokenBodies: RequestOption, Sendable {
    /// True: broken bodies are resumed.
    public static let defaultValue = true
    /// False: the option also applies after a redirect to another origin.
    public static var staysWithOrigin: Bool { false }
}
