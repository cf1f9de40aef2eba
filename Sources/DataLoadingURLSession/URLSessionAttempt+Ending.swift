// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Dispatch
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// How an attempt ends, and how its events are delivered to its sink.
extension URLSessionAttempt {
    private static let queue = DispatchQueue(
        label: "DataLoading.session.sinks", attributes: .concurrent)
    /// A serial queue, which has a thread however busy the sinks are; all of them wait for one
    /// queue anyway.
    private static let cancels = DispatchQueue(label: "DataLoading.session.cancels")

    /// Ends the attempt with an error, after the waiting events or, at once, instead of them.
    func fail(_ error: DataLoaderError, atOnce: Bool) {
        // A server that may have a body in memory complete had its bytes before, which were counted.
        let isCounted = request.body?.bytes.map { !$0.isEmpty } ?? false
        let mayHaveResent =
            !isCounted && URLSessionTransport.mayHaveResent(amongAttempts: attempts.begun)
        finish(atOnce: atOnce) { state in
            let sent = URLSessionErrors.sent(
                error, hasHead: state.hasHead, bodyBytes: state.report.bodyBytesSent,
                mayHaveResent: mayHaveResent)
            return .failure(TransportFailure(error, sent: sent, report: state.report))
        }
    }

    /// Decides the end; at once, the waiting bytes are dropped.
    ///
    /// The task is unregistered first and cancelled then: its bytes may come for another
    /// second.
    func finish(
        atOnce: Bool, _ outcome: @Sendable (State) -> URLSessionInbox.Outcome
    ) {
        let (task, entry, wakes) = state.withLock {
            state -> (URLSessionTask?, TimerQueue.Entry?, Bool) in
            // An end that a pause holds back is replaced by one that must not wait.
            guard !state.isDecided || atOnce && state.inbox.holdsEnd else {
                return (nil, nil, false)
            }
            let task = state.task
            state.life = .decided
            state.inbox.end(outcome(state), atOnce: atOnce)
            return (task, state.deadline.take(), state.inbox.startDelivery())
        }
        if let entry { timerQueue.cancel(entry) }
        if let task {
            attempts.forget(task.taskIdentifier)
            if atOnce { cancel(task) }
        }
        if wakes { deliver() }
    }

    /// Cancels a task on another thread: on Linux the caller's may be the queue that a
    /// cancellation waits for.
    func cancel(_ task: URLSessionTask) {
        attempts.forget(task.taskIdentifier)
        Self.cancels.async { task.cancel() }
    }

    /// Delivers the waiting events; called only after `startDelivery` has returned true.
    func deliver() {
        Self.queue.async { [self] in
            while let next = state.withLock({ $0.inbox.next() }) {
                switch next {
                case .sent(let count, let total): sink.didSend(count, of: total)
                case .head(let head): sink.didReceive(head)
                case .bytes(let data): sink.didReceive(data)
                case .outcome(.end(let report)): sink.didEnd(report)
                case .outcome(.failure(let failure)): sink.didFail(failure)
                }
                if case .outcome = next { attempts.ended(self) }
            }
        }
    }
}
