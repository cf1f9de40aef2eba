// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoading
public import Foundation

/// A loader's delegate that records every call, in order.
public final class RecordingDelegate: DataLoaderChunkDelegate, DataLoaderBodyStreamDelegate,
    DataLoaderConnectivityDelegate
{
    /// One call of the delegate.
    public enum Event: Sendable {
        /// The load succeeded.
        case success(DataLoaderResponse)
        /// The load ended with an error.
        case error(DataLoaderResponse)
        /// The load was cancelled.
        case cancelled(DataLoaderRequest)
        /// The head of a response in chunks.
        case initial(DataLoaderResponse)
        /// A chunk.
        case chunk(Data)
        /// The load waits for a connection.
        case waitingForConnectivity(DataLoaderRequest)

        /// Whether it is a load's last call.
        public var isTerminal: Bool {
            switch self {
            case .success, .error, .cancelled: true
            case .initial, .chunk, .waitingForConnectivity: false
            }
        }

        /// The response of the call; nil without one.
        public var response: DataLoaderResponse? {
            switch self {
            case .success(let response), .error(let response), .initial(let response): response
            case .cancelled, .chunk, .waitingForConnectivity: nil
            }
        }

        /// The identifier of the call's request; nil for a chunk.
        public var requestIdentifier: Int64? {
            switch self {
            case .cancelled(let request), .waitingForConnectivity(let request):
                request.uniqueIdentifier
            default: response?.request.uniqueIdentifier
            }
        }
    }

    private let supportsChunks: Bool
    private let bodyStream: @Sendable () -> InputStream?
    private let onEvent: @Sendable (Event) -> Void
    private let all = EventRecorder<Event>()
    private let terminal = EventRecorder<Event>()

    /// Makes a delegate.
    ///
    /// - Parameters:
    ///   - supportsChunks: The answer to `dataLoaderShouldSupportChunks`; default false.
    ///   - bodyStream: Returns the body when it must be sent again; by default returns nil.
    ///   - onEvent: Called inside each call, on the delegate queue, after it was recorded.
    public init(
        supportsChunks: Bool = false, bodyStream: @escaping @Sendable () -> InputStream? = { nil },
        onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.supportsChunks = supportsChunks
        self.bodyStream = bodyStream
        self.onEvent = onEvent
    }

    /// Every call so far.
    public var events: [Event] { all.elements }

    /// Returns the calls once there are at least `count`.
    public func events(_ count: Int) async -> [Event] { await all.first(count) }

    /// Returns the last calls of loads once there are at least `count`.
    public func outcomes(_ count: Int) async -> [Event] { await terminal.first(count) }

    /// The bytes of all chunks so far.
    public var body: Data {
        events.reduce(into: Data()) { body, event in
            if case .chunk(let data) = event { body.append(data) }
        }
    }

    private func record(_ event: Event) {
        all.record(event)
        if event.isTerminal { terminal.record(event) }
        onEvent(event)
    }

    /// Records a success.
    public func dataLoader(
        _ dataLoader: DataLoader, didReceiveSuccessfulResponse response: DataLoaderResponse
    ) {
        record(.success(response))
    }

    /// Records an error.
    public func dataLoader(
        _ dataLoader: DataLoader, didReceiveErrorResponse response: DataLoaderResponse
    ) {
        record(.error(response))
    }

    /// Records a cancellation.
    public func dataLoader(_ dataLoader: DataLoader, didCancelRequest request: DataLoaderRequest) {
        record(.cancelled(request))
    }

    /// Returns the value of `supportsChunks`.
    public func dataLoaderShouldSupportChunks(_ dataLoader: DataLoader) -> Bool { supportsChunks }

    /// Records a head.
    public func dataLoader(
        _ dataLoader: DataLoader, didReceiveInitialResponse response: DataLoaderResponse
    ) {
        record(.initial(response))
    }

    /// Records a chunk.
    public func dataLoader(
        _ dataLoader: DataLoader, didReceiveDataChunk data: Data,
        forResponse response: DataLoaderResponse
    ) {
        record(.chunk(data))
    }

    /// Returns the result of `bodyStream`.
    public func dataLoader(
        _ dataLoader: DataLoader, needsNewBodyStreamFor request: DataLoaderRequest
    ) -> InputStream? { bodyStream() }

    /// Records the wait.
    public func dataLoader(
        _ dataLoader: DataLoader, requestIsWaitingForConnectivity request: DataLoaderRequest
    ) {
        record(.waitingForConnectivity(request))
    }
}
