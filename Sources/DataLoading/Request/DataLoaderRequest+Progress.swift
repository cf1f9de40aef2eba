// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension DataLoaderRequest {
    // A redirect to another origin keeps these options: their values are not for one origin.
    private enum UploadProgress: RequestOption {
        static let defaultValue: (@Sendable (BodyProgress) -> Void)? = nil
        static var staysWithOrigin: Bool { false }
    }

    private enum DownloadProgress: RequestOption {
        static let defaultValue: (@Sendable (BodyProgress) -> Void)? = nil
        static var staysWithOrigin: Bool { false }
    }

    /// Receives how much of the request body was handed to the transport; default nil.
    ///
    /// ```swift
    /// request.uploadProgress = { print($0.completed, "of", $0.total ?? 0) }
    /// ```
    /// Bytes that were handed over may still be in the buffers of the transport and of the system.
    /// The value grows during an attempt and starts over when the body is sent again.
    ///
    /// The library calls the closure on the delegate queue, one call at a time, at most ten times a
    /// second. It also reports the first value after a restart, and the last value of each attempt
    /// before the outcome. It never calls the closure after a cancellation.
    public var uploadProgress: (@Sendable (BodyProgress) -> Void)? {
        get { self[option: UploadProgress.self] }
        set { self[option: UploadProgress.self] = newValue }
    }

    /// Receives how much of the response body has arrived, after decoding; default nil.
    ///
    /// ```swift
    /// request.downloadProgress = { print($0.completed, "of", $0.total ?? 0) }
    /// ```
    /// The total is known when the response declares its length and is not compressed. Responses
    /// that are retried, redirected or authorised again are not reported. The value starts over
    /// when a broken body has to be loaded from its start.
    ///
    /// The library calls the closure on the same queue and at the same times as that of
    /// `uploadProgress`.
    public var downloadProgress: (@Sendable (BodyProgress) -> Void)? {
        get { self[option: DownloadProgress.self] }
        set { self[option: DownloadProgress.self] = newValue }
    }
}
