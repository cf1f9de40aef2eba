// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// Passes the events of one attempt on, and counts its end.
final class MeasuredSink: TransportSink {
    private let attempt: BegunAttempt
    private let next: any TransportSink
    private let recorder: AttemptRecorder
    // Without a lock: a transport calls a sink from one thread at a time.
    nonisolated(unsafe) private var status: HTTPStatus?
    nonisolated(unsafe) private var isEnded = false

    init(_ attempt: BegunAttempt, _ next: any TransportSink, _ recorder: AttemptRecorder) {
        self.attempt = attempt
        self.next = next
        self.recorder = recorder
    }

    func didSend(_ bodyBytes: Int64, of total: Int64?) { next.didSend(bodyBytes, of: total) }

    func didReceive(_ head: ResponseHead) {
        status = head.status
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
    ///
    /// One that breaks its contract further, and does so on two threads at the same time, may be counted
    /// twice.
    private func ended(_ report: TransportReport, _ error: DataLoaderError?) {
        guard !isEnded else { return }
        isEnded = true
        recorder.end(attempt, status: status, error: error, report)
    }
}
