// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One attempt between the session, which cannot be held back, and its sink, which may be slow.
///
/// The session's calls put what they bring into `URLSessionInbox` and return; one block at a time
/// hands it on to the sink. The end is decided once, under the lock: what comes later is dropped.
final class URLSessionAttempt: TransportTask, Punctual {
    private struct State {
        var inbox = URLSessionInbox()
        var task: URLSessionTask?
        var isDecided = false
        var hasHead = false
        var report = TransportReport()
        var informational = 0
        var lastActivity: Instant
        /// What the silence may last now: more before the first sign of life.
        var patience: Duration
        var deadline: Agenda.Entry?
    }

    private let request: TransportRequest
    private let sink: any TransportSink
    private let agenda: Agenda
    private let window: Int
    private let attempts: URLSessionAttempts
    private let begin: Instant
    private let state: Locked<State>
    private static let queue = DispatchQueue(
        label: "DataLoading.session.sinks", attributes: .concurrent)

    init(
        _ request: TransportRequest, sink: any TransportSink, agenda: Agenda, window: Int,
        attempts: URLSessionAttempts
    ) {
        self.request = request
        self.sink = sink
        self.agenda = agenda
        self.attempts = attempts
        let mostWaiting = Int(clamping: request.bodyLimit ?? 0)
        self.window = request.streamsResponse ? window : max(window, mostWaiting)
        begin = agenda.now
        state = Locked(
            State(
                lastActivity: begin, patience: request.connectTimeout + request.idleTimeout))
    }

    /// Whether the end is decided.
    var isOver: Bool { state.withLock { $0.isDecided } }

    // MARK: From the transport

    /// Lets a task work for the attempt.
    func run(_ task: URLSessionTask) {
        scheduleDeadline()
        task.resume()
        // Only now can it be cancelled: on Linux a cancelled task that is then resumed loads, and
        // stops the process when the session has let it go.
        let isDecided = state.withLock { state in
            state.task = state.isDecided ? nil : task
            return state.isDecided
        }
        if isDecided { cancel(task) }
    }

    /// Ends an attempt of which nothing was sent.
    func refuse(_ error: DataLoaderError) {
        end(TransportFailure(error, sent: .nothingWritten), atOnce: true)
    }

    /// Ends the attempt for a reason of this side's.
    func stop(_ error: DataLoaderError) {
        end(error, atOnce: true)
    }

    // MARK: From the session

    func sent(_ bodyBytes: Int64, of total: Int64?) {
        note { state in
            state.report.bodyBytesSent = bodyBytes
            state.inbox.noteSent(bodyBytes, of: total)
        }
    }

    func received(_ response: URLResponse) {
        do throws(DataLoaderError) {
            let head = try URLSessionHead.read(response, limit: request.headLimit)
            guard head.status.rawValue >= 200 else {
                let count = note { state in
                    state.informational += 1
                    state.inbox.append(.informational(head))
                    return state.informational
                }
                guard count ?? 0 <= ResponseGuard.informationalLimit else {
                    throw .framing(reason: "too many informational responses")
                }
                return
            }
            let time = agenda.now - begin
            note { state in
                state.hasHead = true
                state.report.firstByteTime = time
                state.inbox.append(.head(head))
            }
            try URLSessionHead.check(head, of: request)
        } catch {
            stop(error)
        }
    }

    func received(_ data: Data) {
        let window = window
        let limit = request.bodyLimit ?? .max
        let error = note { state -> DataLoaderError? in
            state.report.decodedBytes = state.report.decodedBytes.addingSaturated(Int64(data.count))
            guard state.hasHead else { return .framing(reason: "a body before its head") }
            guard state.report.decodedBytes <= limit else { return .bodyTooLarge(limit: limit) }
            guard state.inbox.append(data, window: window) else {
                return .unsupported(reason: "URLSession cannot hold a server back")
            }
            return nil
        }
        if let error = error ?? nil { stop(error) }
    }

    /// The task is over: whole, or with an error.
    func sessionEnded(_ error: (any Error)?) {
        let hasHead = state.withLock { $0.hasHead }
        if let error {
            end(URLSessionErrors.error(error, hasHead: hasHead), atOnce: false)
        } else if hasHead {
            finish(atOnce: false) { .end(TransportEnd(report: $0.report)) }
        } else {
            end(.noResponse, atOnce: false)
        }
    }

    // MARK: From the owner

    func cancel() {
        stop(.cancelled)
    }

    func pause() {
        let task = state.withLock { state -> URLSessionTask? in
            guard !state.isDecided, !state.inbox.isPaused else { return nil }
            state.inbox.isPaused = true
            return state.task
        }
        if let task { URLSessionTransport.pause(task) }
    }

    func resume() {
        let now = agenda.now
        let (task, wakes) = state.withLock { state -> (URLSessionTask?, Bool) in
            guard state.inbox.isPaused else { return (nil, false) }
            state.inbox.isPaused = false
            state.lastActivity = now
            return (state.isDecided ? nil : state.task, state.inbox.startDelivery())
        }
        if let task { URLSessionTransport.resume(task) }
        if wakes { deliver() }
    }

    // MARK: The limit on silence

    func isDue(_ tag: Int) {
        let now = agenda.now
        let isOver = state.withLock { state in
            state.deadline = nil
            // Nobody is silent whose bytes are waiting here.
            if state.inbox.isBusy { state.lastActivity = now }
            return state.isDecided || now >= state.lastActivity + state.patience
        }
        isOver ? stop(.idleTimeout) : scheduleDeadline()
    }

    private func scheduleDeadline() {
        let next = state.withLock { state -> Instant? in
            state.isDecided ? nil : state.lastActivity + state.patience
        }
        guard let next else { return }
        let entry = agenda.schedule(at: next, for: self, tag: 0)
        let isDecided = state.withLock { state in
            state.deadline = entry
            return state.isDecided
        }
        if isDecided { agenda.cancel(entry) }
    }

    // MARK: Handing on

    /// Notes something that the session brought; nil when the end is decided.
    @discardableResult
    private func note<Result: Sendable>(
        _ change: @Sendable (inout State) -> Result
    ) -> Result? {
        let now = agenda.now
        let idleTimeout = request.idleTimeout
        let (result, wakes) = state.withLock { state -> (Result?, Bool) in
            guard !state.isDecided else { return (nil, false) }
            state.lastActivity = now
            state.patience = idleTimeout
            let result = change(&state)
            return (result, state.inbox.startDelivery())
        }
        if wakes { deliver() }
        return result
    }

    private func end(_ error: DataLoaderError, atOnce: Bool) {
        finish(atOnce: atOnce) { state in
            .failure(
                TransportFailure(
                    error, sent: URLSessionErrors.sent(error, hasHead: state.hasHead),
                    report: state.report))
        }
    }

    private func end(_ failure: TransportFailure, atOnce: Bool) {
        finish(atOnce: atOnce) { _ in .failure(failure) }
    }

    /// Decides the end; at once, whatever waits is dropped.
    ///
    /// The task is forgotten first and cancelled then: its bytes may come for a second longer.
    private func finish(
        atOnce: Bool, _ outcome: @Sendable (State) -> URLSessionInbox.Outcome
    ) {
        let (task, entry, wakes) = state.withLock {
            state -> (URLSessionTask?, Agenda.Entry?, Bool) in
            // An end that a pause holds back gives way to one that may not wait.
            guard !state.isDecided || atOnce && state.inbox.holdsEnd else {
                return (nil, nil, false)
            }
            state.isDecided = true
            state.inbox.end(outcome(state), atOnce: atOnce)
            defer {
                state.task = nil
                state.deadline = nil
            }
            return (state.task, state.deadline, state.inbox.startDelivery())
        }
        if let entry { agenda.cancel(entry) }
        if let task {
            attempts.forget(task.taskIdentifier)
            if atOnce { cancel(task) }
        }
        if wakes { deliver() }
    }

    /// Never on the caller's thread: on Linux it may be the queue that a cancellation waits for.
    private func cancel(_ task: URLSessionTask) {
        attempts.forget(task.taskIdentifier)
        Self.queue.async { task.cancel() }
    }

    private func deliver() {
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
