// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Whether a retry asks only for the rest of a body that broke off; default true.
///
/// ```swift
/// request[option: ResumesBrokenBodies.self] = false
/// ```
/// It takes a request that may be retried, a GET without a `Range` of its own, and a 200 that had no
/// content coding and a strong validator: an `ETag` without `W/`, or a `Last-Modified` at least a
/// minute before the `Date`. The retry carries `Range` and `If-Range`, and its body is appended only
/// when the server answers 206 with a `Content-Range` that goes on exactly where the body broke, of
/// the same length in all and with the same validator. The response is then that of the 200, whole.
///
/// A 200 starts over. So does the next retry after any other answer to the range: a 416, a 206 that
/// does not fit, several ranges. Where bytes have been handed over already, to a reader of chunks, a
/// stream or a closure, nothing can start over, and the load ends with the error that broke it.
public enum ResumesBrokenBodies: RequestOption, Sendable {
    /// They are resumed.
    public static let defaultValue = true
    /// False: it holds wherever the load is led.
    public static var staysWithOrigin: Bool { false }
}
