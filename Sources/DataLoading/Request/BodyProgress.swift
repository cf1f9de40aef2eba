// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The number of bytes of a body that were transferred.
public struct BodyProgress: Hashable, Sendable {
    /// The bytes transferred so far.
    public var completed: Int64
    /// The size of the whole body in bytes; nil when it is not known.
    public var total: Int64?

    /// Makes a progress value.
    public init(completed: Int64, total: Int64? = nil) {
        self.completed = completed
        self.total = total
    }
}

/// Reports how much of the request body was handed to the transport; default nil.
///
/// ```swift
/// request[option: UploadProgress.self] = { print($0.completed, "of", $0.total ?? 0) }
/// ```
/// Bytes that were handed over may still be in the buffers of the transport and of the system. The
/// value grows during an attempt and starts over when the body is sent again.
///
/// The library calls the closure on the delegate queue, one call at a time, at most ten times a
/// second. It also reports the first value after a restart, and the last value of each attempt
/// before the outcome. It never calls the closure after a cancellation.
public enum UploadProgress: RequestOption, Sendable {
    /// The closure that receives the progress.
    public typealias Value = (@Sendable (BodyProgress) -> Void)?
    /// No closure.
    public static var defaultValue: Value { nil }
    /// False: the option also applies after a redirect to another origin.
    public static var staysWithOrigin: Bool { false }
}

/// Reports how much of the response body was received, after decoding; default nil.
///
/// ```swift
/// request[option: DownloadProgress.self] = { print($0.completed, "of", $0.total ?? 0) }
/// ```
/// The total is known when the response declares its length and is not compressed. Responses that
/// are retried, redirected or authorised again are not reported. The value starts over when a
/// broken body has to be loaded from its start.
///
/// The library calls the closure on the same queue and at the same times as that of
/// `UploadProgress`.
public enum DownloadProgress: RequestOption, Sendable {
    /// The closure that receives the progress.
    public typealias Value = (@Sendable (BodyProgress) -> Void)?
    /// No closure.
    public static var defaultValue: Value { nil }
    /// False: the option also applies after a redirect to another origin.
    public static var staysWithOrigin: Bool { false }
}
