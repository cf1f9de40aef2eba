// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin) || URLSession
    import Dispatch
    import Foundation

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// One attempt between the session, which cannot be held back, and its sink, which may be slow.
    ///
    /// The session's calls put what they bring into `URLSessionInbox` and return; one block at a time
    /// hands it on to the sink. The end is decided once, under the lock: what comes later is dropped.
    final class URLSessionAttempt: TransportTask {
        struct State {
            /// Up to the decision about the end; that the sink hears it is the inbox's matter.
            enum Life {
                case starting
                case running(URLSessionTask)
                case decided
            }

            var life = Life.starting
            var inbox = URLSessionInbox()
            var silence: SilenceLimit
            var deadline: Agenda.Entry?
            var hasHead = false
            var report = TransportReport()
            var informational = 0

            var isDecided: Bool { if case .decided = life { true } else { false } }
            var task: URLSessionTask? { if case .running(let task) = life { task } else { nil } }
        }

        let request: TransportRequest
        let sink: any TransportSink
        let agenda: Agenda
        let attempts: URLSessionAttempts
        let state: Locked<State>
        private let window: Int
        private let begin: Instant

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
            state = Locked(State(silence: SilenceLimit(of: request, since: begin)))
        }

        /// Whether the end is decided.
        var isOver: Bool { state.withLock { $0.isDecided } }
        /// Whether a final head came.
        var hasHead: Bool { state.withLock { $0.hasHead } }

        // MARK: From the transport

        /// Lets a task work for the attempt.
        func run(_ task: URLSessionTask) {
            task.resume()
            // Only now can it be cancelled: on Linux a cancelled task that is then resumed loads, and
            // stops the process when the session has let it go.
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

        /// Ends the attempt for a reason of this side's.
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
                guard head.status.rawValue >= 200 else { return try received(informational: head) }
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

        private func received(informational head: ResponseHead) throws(DataLoaderError) {
            let count = note { state in
                state.informational += 1
                state.inbox.append(.informational(head))
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
                    return .unsupported(reason: "URLSession cannot hold a server back")
                }
                return nil
            }
            if let error = error ?? nil { stop(error) }
        }

        /// The task is over: whole, or with an error.
        func sessionEnded(_ error: (any Error)?) {
            let hasHead = hasHead
            if let error {
                fail(URLSessionErrors.error(error, hasHead: hasHead), atOnce: false)
            } else if hasHead {
                finish(atOnce: false) { .end(TransportEnd(report: $0.report)) }
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
            let now = agenda.now
            let (task, wakes) = state.withLock { state -> (URLSessionTask?, Bool) in
                guard state.inbox.isPaused else { return (nil, false) }
                state.inbox.isPaused = false
                state.silence.startAnew(at: now)
                return (state.task, state.inbox.startDelivery())
            }
            if let task { URLSessionTransport.resume(task) }
            if wakes { deliver() }
        }

        /// Notes something that the session brought; nil when the end is decided.
        @discardableResult
        private func note<Result: Sendable>(
            _ change: @Sendable (inout State) -> Result
        ) -> Result? {
            let now = agenda.now
            let (result, wakes) = state.withLock { state -> (Result?, Bool) in
                guard !state.isDecided else { return (nil, false) }
                state.silence.isBroken(at: now)
                let result = change(&state)
                return (result, state.inbox.startDelivery())
            }
            if wakes { deliver() }
            return result
        }
    }
#endif
