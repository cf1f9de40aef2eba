// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation

/// Records the events of one attempt, for tests of a transport without a loader.
final class RecordingSink: TransportSink {
    enum Event: Sendable {
        case head(Int)
        case bytes(Data)
        case end(TransportReport)
        case failure(TransportFailure)
    }

    let events = EventRecorder<Event>()
    private let ends = EventRecorder<Event>()
    private let onEvent: @Sendable (Event) -> Void

    init(_ onEvent: @escaping @Sendable (Event) -> Void = { _ in }) {
        self.onEvent = onEvent
    }

    /// Returns the end, once there is one.
    func end() async -> Event { await ends.first(1)[0] }

    /// Returns the failure that ended the attempt; nil for a complete response.
    func failure() async -> TransportFailure? {
        if case .failure(let failure) = await end() { failure } else { nil }
    }

    /// The number of ends; more than one breaks the contract.
    var endCount: Int { ends.elements.count }

    var body: Data {
        events.elements.reduce(into: Data()) { if case .bytes(let bytes) = $1 { $0 += bytes } }
    }

    func didReceive(_ head: DataLoading.ResponseHead) { record(.head(head.status.rawValue)) }

    func didReceive(_ bytes: Data) { record(.bytes(bytes)) }

    func didEnd(_ report: TransportReport) {
        record(.end(report))
        ends.record(.end(report))
    }

    func didFail(_ failure: TransportFailure) {
        record(.failure(failure))
        ends.record(.failure(failure))
    }

    private func record(_ event: Event) {
        events.record(event)
        onEvent(event)
    }
}
