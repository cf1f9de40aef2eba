// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// How much of a body has gone over, in bytes.
public struct BodyProgress: Hashable, Sendable {
    /// The bytes so far.
    public var completed: Int64
    /// The bytes in all, nil when that is not known.
    public var total: Int64?

    /// Makes a progress.
    public init(completed: Int64, total: Int64? = nil) {
        self.completed = completed
        self.total = total
    }
}

/// Hears how much of a request's body was handed to the transport; default nil.
///
/// ```swift
/// request[option: UploadProgress.self] = { print($0.completed, "of", $0.total ?? 0) }
/// ```
/// What was handed over may still be in the buffers of the transport and the system. The value grows
/// during an attempt, and starts over when the body is sent again. Called on the delegate queue, one
/// call at a time: at most ten times a second, and with the last value of each attempt, before the
/// outcome. Never called after a cancellation.
public enum UploadProgress: RequestOption, Sendable {
    /// Called with the progress.
    public typealias Value = (@Sendable (BodyProgress) -> Void)?
    /// Nobody hears.
    public static var defaultValue: Value { nil }
    /// False: it holds wherever the load is led.
    public static var staysWithOrigin: Bool { false }
}

/// Hears how much of a response's body was received, after decoding; default nil.
///
/// ```swift
/// request[option: DownloadProgress.self] = { print($0.completed, "of", $0.total ?? 0) }
/// ```
/// The total is known when the response declares its length and is not compressed. Responses that
/// are retried, redirected or authorised again do not count; the value starts over when a broken
/// body has to be loaded from its start. Called as `UploadProgress` is.
public enum DownloadProgress: RequestOption, Sendable {
    /// Called with the progress.
    public typealias Value = (@Sendable (BodyProgress) -> Void)?
    /// Nobody hears.
    public static var defaultValue: Value { nil }
    /// False: it holds wherever the load is led.
    public static var staysWithOrigin: Bool { false }
}
