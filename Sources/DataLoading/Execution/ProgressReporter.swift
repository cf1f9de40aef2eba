// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// Tells the owner of one load how far its bodies have got, now and then, on the delegate queue.
///
/// What comes within a tenth of a second of the last report is kept, and only its last is told.
final class ProgressReporter: Sendable {
    typealias Handler = @Sendable (BodyProgress) -> Void

    enum Direction: Sendable {
        case upload, download
    }

    /// Ten reports a second are as many as anybody can read.
    static let interval = Duration.milliseconds(100)

    private struct State: Sendable {
        var upload = Track()
        var download = Track()
        var isDraining = false
        var isClosed = false
        var completion: (@Sendable () -> Void)?
    }

    private enum Task: Sendable {
        case report(Direction, BodyProgress)
        case complete(@Sendable () -> Void)
        case rest
    }

    private let onUpload: Handler?
    private let onDownload: Handler?
    private let queue: DispatchQueue
    private let agenda: Agenda
    private let state = Locked(State())

    /// Makes a reporter; nil when nobody wants to hear.
    init?(_ request: DataLoaderRequest, queue: DispatchQueue, agenda: Agenda) {
        guard request.hasOptions else { return nil }
        onUpload = request[option: UploadProgress.self]
        onDownload = request[option: DownloadProgress.self]
        guard onUpload != nil || onDownload != nil else { return nil }
        self.queue = queue
        self.agenda = agenda
    }

    /// Notes how far a body is.
    func note(_ progress: BodyProgress, _ direction: Direction) {
        let now = agenda.now
        drainIfNeeded { state in
            switch direction {
            case .upload: state.upload.note(progress, now)
            case .download: state.download.note(progress, now)
            }
        }
    }

    /// An attempt is over: what was kept back is told.
    func flush() {
        drainIfNeeded { state in
            state.upload.flush()
            state.download.flush()
        }
    }

    /// The load is cancelled: nothing is told any more.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.upload = Track()
            state.download = Track()
        }
    }

    /// Tells what was kept back, and then goes on, on the delegate queue.
    func finish(then completion: @escaping @Sendable () -> Void) {
        drainIfNeeded { state in
            state.upload.flush()
            state.download.flush()
            state.completion = completion
        }
    }

    private func drainIfNeeded(_ change: (inout State) -> Void) {
        let starts = state.withLock { state in
            change(&state)
            if state.isClosed {
                state.upload = Track()
                state.download = Track()
            }
            let hasWork =
                state.upload.due != nil || state.download.due != nil || state.completion != nil
            guard hasWork, !state.isDraining else { return false }
            state.isDraining = true
            return true
        }
        if starts { queue.async { self.drain() } }
    }

    /// Tells one thing, and lets what else waits in the queue go first before the next one: a handler
    /// that is slow always finds another report due.
    private func drain() {
        switch state.withLock({ Self.next(&$0) }) {
        case .report(.upload, let progress): onUpload?(progress)
        case .report(.download, let progress): onDownload?(progress)
        case .complete(let completion): completion()
        case .rest: return
        }
        queue.async { self.drain() }
    }

    private static func next(_ state: inout State) -> Task {
        if let progress = state.upload.due.take() { return .report(.upload, progress) }
        if let progress = state.download.due.take() { return .report(.download, progress) }
        if let completion = state.completion.take() { return .complete(completion) }
        state.isDraining = false
        return .rest
    }
}

/// One direction: what was told, what is to be told, and what is kept back.
private struct Track: Sendable {
    /// To be told as soon as the queue has time.
    var due: BodyProgress?
    private var latest: BodyProgress?
    private var lastDue: (progress: BodyProgress, at: Instant)?

    mutating func note(_ progress: BodyProgress, _ now: Instant) {
        let isRestart = progress.completed < latest?.completed ?? 0
        if isRestart, due == nil { flush() }
        latest = progress
        let isLast = progress.completed == progress.total
        if let lastDue, !isRestart, !isLast, now - lastDue.at < ProgressReporter.interval { return }
        due = progress
        lastDue = (progress, now)
    }

    mutating func flush() {
        guard let latest, latest != lastDue?.progress else { return }
        due = latest
        lastDue?.progress = latest
    }
}
