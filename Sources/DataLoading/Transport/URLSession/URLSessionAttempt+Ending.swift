// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin) || URLSession
    import Dispatch
    import Foundation

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// How an attempt ends, and how its sink hears what came before.
    extension URLSessionAttempt {
        private static let queue = DispatchQueue(
            label: "DataLoading.session.sinks", attributes: .concurrent)
        /// Serial, which has a thread however busy the sinks are; all wait for one queue anyway.
        private static let cancels = DispatchQueue(label: "DataLoading.session.cancels")

        /// Ends the attempt with an error, after what waits or, at once, in its place.
        func fail(_ error: DataLoaderError, atOnce: Bool) {
            finish(atOnce: atOnce) { state in
                .failure(
                    TransportFailure(
                        error, sent: URLSessionErrors.sent(error, hasHead: state.hasHead),
                        report: state.report))
            }
        }

        /// Decides the end; at once, whatever waits is dropped.
        ///
        /// The task is forgotten first and cancelled then: its bytes may come for a second longer.
        func finish(
            atOnce: Bool, _ outcome: @Sendable (State) -> URLSessionInbox.Outcome
        ) {
            let (task, entry, wakes) = state.withLock {
                state -> (URLSessionTask?, Agenda.Entry?, Bool) in
                // An end that a pause holds back gives way to one that may not wait.
                guard !state.isDecided || atOnce && state.inbox.holdsEnd else {
                    return (nil, nil, false)
                }
                let task = state.task
                state.life = .decided
                state.inbox.end(outcome(state), atOnce: atOnce)
                return (task, state.deadline.take(), state.inbox.startDelivery())
            }
            if let entry { agenda.cancel(entry) }
            if let task {
                attempts.forget(task.taskIdentifier)
                if atOnce { cancel(task) }
            }
            if wakes { deliver() }
        }

        /// Never on the caller's thread: on Linux it may be the queue that a cancellation waits for.
        func cancel(_ task: URLSessionTask) {
            attempts.forget(task.taskIdentifier)
            Self.cancels.async { task.cancel() }
        }

        /// Hands on what waits; whoever was told to start it calls this, and nobody else until then.
        func deliver() {
            Self.queue.async { [self] in
                while let next = state.withLock({ $0.inbox.next() }) {
                    switch next {
                    case .sent(let count, let total): sink.didSend(count, of: total)
                    case .informational(let head): sink.didReceiveInformational(head)
                    case .head(let head): sink.didReceive(head)
                    case .bytes(let data): sink.didReceive(data)
                    case .outcome(.end(let end)): sink.didEnd(end)
                    case .outcome(.failure(let failure)): sink.didFail(failure)
                    }
                    if case .outcome = next { attempts.ended(self) }
                }
            }
        }
    }
#endif
