// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoading

/// A consumption observer that records every call, in order.
public final class RecordingObserver: ConsumptionObserver {
    /// One load that ended.
    public struct Entry: Sendable {
        /// The response or the error of the load.
        public let response: DataLoaderResponse
        /// The number of bytes received, including heads.
        public let bytesDownloaded: Int64
        /// The number of bytes sent, including heads.
        public let bytesUploaded: Int64
    }

    private let recorder = EventRecorder<Entry>()

    /// Makes an observer without records.
    public init() {}

    /// Every load so far.
    public var entries: [Entry] { recorder.elements }

    /// Returns the loads once there are at least `count`.
    public func entries(_ count: Int) async -> [Entry] { await recorder.first(count) }

    /// Records a load.
    public func endedRequest(
        with response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64
    ) {
        recorder.record(
            Entry(
                response: response, bytesDownloaded: bytesDownloaded,
                bytesUploaded: bytesUploaded))
    }
}
