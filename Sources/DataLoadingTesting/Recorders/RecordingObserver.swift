// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoading

/// A consumption observer that keeps every call, in order.
public final class RecordingObserver: ConsumptionObserver {
    /// One load that ended.
    public struct Entry: Sendable {
        /// What became of it.
        public let response: DataLoaderResponse
        /// Bytes received, heads included.
        public let bytesDownloaded: Int64
        /// Bytes sent, heads included.
        public let bytesUploaded: Int64
    }

    private let recorder = EventRecorder<Entry>()

    /// Makes an observer that has heard nothing.
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
