// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Dispatch
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One attempt between the session, which cannot be held back, and its sink, which may be slow.
///
/// The session's calls append events to `URLSessionInbox` and return; one block at a time
/// delivers them to the sink. The end is decided once, under the lock, and later events are
/// dropped.
final class URLSessionAttempt: TransportTask {
    struct State {
        /// The life until the end is decided; the inbox delivers the end.
        enum Life {
            case starting
            case running(URLSessionTask)
            case decided
        }

        var life = Life.starting
        var inbox = URLSessionInbox()
        var silence: SilenceLimit
        var deadline: TimerQueue.Entry?
        var hasHead = false
        var report = TransportReport()
        var informational = 0

        var isDecided: Bool { if case .decided = life { true } else { false } }
        var task: URLSessionTask? { if case .running(let task) = life { task } else { nil } }
    }

    let request: TransportRequest
    let sink: any TransportSink
    let timerQueue: TimerQueue
    let attempts: URLSessionAttempts
    let state: Locked<State>
    private let window: Int
    private let begin: Instant

    init(
        _ request: TransportRequest, sink: any TransportSink, timerQueue: TimerQueue, window: Int,
        attempts: URLSessionAttempts
    ) {
        self.request = request
        self.sink = sink
        self.timerQueue = timerQueue
        self.attempts = attempts
        let bodyLimit = Int(clamping: request.bodyLimit ?? 0)
        self.window = request.streamsResponse ? window : max(window, bodyLimit)
        begin = timerQueue.now
        state = Locked(State(silence: SilenceLimit(of: request, since: begin)))
    }

    /// Whether the end is decided.
    var isOver: Bool { state.withLock { $0.isDecided } }
    /// Whether a final head came.
    var hasHead: Bool { state.withLock { $0.hasHead } }

    // MARK: From the transport

    /// Assigns a started task to the attempt.
    func run(_ task: URLSessionTask) {
        task.resume()
        // Only now can it be cancelled: on Linux a task that is cancelled and then resumed
        // loads, and ends the process when the session has released it.
        let isDecided = state.withLock { state in
            if !state.isDecided { state.life = .running(task) }
            return state.isDecided
        }
        if isDecided { cancel(task) }
    }

    /// Ends an attempt of which nothing was sent.
    func refuse(_ error: DataLoaderError) {
        finish(atOnce: true) { _ in .failure(TransportFailure(error, sent: .nothingWritten)) }
    }

    /// Ends the attempt for a reason that is not the session's.
    func stop(_ error: DataLoaderError) {
        fail(error, atOnce: true)
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
            guard head.status.rawValue >= 200 else { return try receivedInformational() }
            let time = timerQueue.now - begin
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

    private func receivedInformational() throws(DataLoaderError) {
        let count = note { state in
            state.informational += 1
            return state.informational
        }
        guard count ?? 0 <= ResponseGuard.informationalLimit else {
            throw .framing(reason: "too many informational responses")
        }
    }

    func received(_ data: Data) {
        let window = window
        let limit = request.bodyLimit ?? .max
        let error = note { state -> DataLoaderError? in
            state.report.decodedBytes = state.report.decodedBytes.addingSaturated(
                Int64(data.count))
            guard state.hasHead else { return .framing(reason: "a body before its head") }
            guard state.report.decodedBytes <= limit else { return .bodyTooLarge(limit: limit) }
            guard state.inbox.append(data, window: window) else {
                return .unsupported(reason: "URLSession cannot apply back-pressure")
            }
            return nil
        }
        if let error = error ?? nil { stop(error) }
    }

    /// Handles the end of the task, complete or with an error.
    func sessionEnded(_ error: (any Error)?) {
        let hasHead = hasHead
        if let error {
            fail(URLSessionErrors.error(error, hasHead: hasHead), atOnce: false)
        } else if hasHead {
            finish(atOnce: false) { .end($0.report) }
        } else {
            fail(.noResponse, atOnce: false)
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
        let now = timerQueue.now
        let (task, wakes) = state.withLock { state -> (URLSessionTask?, Bool) in
            guard state.inbox.isPaused else { return (nil, false) }
            state.inbox.isPaused = false
            state.silence.restart(at: now)
            return (state.task, state.inbox.startDelivery())
        }
        if let task { URLSessionTransport.resume(task) }
        if wakes { deliver() }
    }

    /// Records something that the session delivered; nil when the end is decided.
    @discardableResult
    private func note<Result: Sendable>(
        _ change: @Sendable (inout State) -> Result
    ) -> Result? {
        let now = timerQueue.now
        let (result, wakes) = state.withLock { state -> (Result?, Bool) in
            guard !state.isDecided else { return (nil, false) }
            state.silence.noteActivity(at: now)
            let result = change(&state)
            return (result, state.inbox.startDelivery())
        }
        if wakes { deliver() }
        return result
    }
}
