// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import Foundation

/// Passes the events of one attempt on, and counts its end.
final class MeasuredSink: TransportSink {
    private struct State: Sendable {
        var status: HTTPStatus?
        var isEnded = false
    }

    private let attempt: BegunAttempt
    private let next: any TransportSink
    private let recorder: AttemptRecorder
    private let state = Locked(State())

    init(_ attempt: BegunAttempt, _ next: any TransportSink, _ recorder: AttemptRecorder) {
        self.attempt = attempt
        self.next = next
        self.recorder = recorder
    }

    func didSend(_ bodyBytes: Int64, of total: Int64?) { next.didSend(bodyBytes, of: total) }

    func didReceive(_ head: ResponseHead) {
        state.withLock { $0.status = head.status }
        next.didReceive(head)
    }

    func didReceive(_ bytes: Data) { next.didReceive(bytes) }

    // Counted before it is passed on: who knows of the end of a load finds its attempts counted.
    func didEnd(_ report: TransportReport) {
        ended(report, nil)
        next.didEnd(report)
    }

    func didFail(_ failure: TransportFailure) {
        ended(failure.report, failure.error)
        next.didFail(failure)
    }

    /// Counts the first end only, where a transport ends an attempt twice.
    private func ended(_ report: TransportReport, _ error: DataLoaderError?) {
        let (isFirst, status) = state.withLock { state in
            defer { state.isEnded = true }
            return (!state.isEnded, state.status)
        }
        guard isFirst else { return }
        recorder.end(attempt, status: status, error: error, report)
    }
}
