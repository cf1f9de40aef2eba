// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Dispatch

/// Reports the progress of one load's bodies to its owner, on the delegate queue.
///
/// A value within a tenth of a second of the last report is kept back, and a later value replaces
/// it. The end of a body and a restart are reported at once.
final class ProgressReporter: Sendable {
    typealias Handler = @Sendable (BodyProgress) -> Void

    enum Direction: Sendable {
        case upload, download
    }

    /// More than ten reports a second are too many for a person to read.
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
    private let timerQueue: TimerQueue
    private let state = Locked(State())

    private init(
        _ onUpload: Handler?, _ onDownload: Handler?, queue: DispatchQueue, timerQueue: TimerQueue
    ) {
        self.onUpload = onUpload
        self.onDownload = onDownload
        self.queue = queue
        self.timerQueue = timerQueue
    }

    /// Makes a reporter for the handlers of a request; nil without one.
    static func make(
        for request: DataLoaderRequest, queue: DispatchQueue, timerQueue: TimerQueue
    ) -> ProgressReporter? {
        guard request.hasOptions else { return nil }
        let (onUpload, onDownload) = (request.uploadProgress, request.downloadProgress)
        guard onUpload != nil || onDownload != nil else { return nil }
        return ProgressReporter(onUpload, onDownload, queue: queue, timerQueue: timerQueue)
    }

    /// Notes the progress of a body.
    func note(_ progress: BodyProgress, _ direction: Direction) {
        let now = timerQueue.now
        drainIfNeeded { state in
            switch direction {
            case .upload: state.upload.note(progress, now)
            case .download: state.download.note(progress, now)
            }
        }
    }

    /// Reports the values that were kept back, because an attempt is over.
    func flush() {
        drainIfNeeded { state in
            state.upload.flush()
            state.download.flush()
        }
    }

    /// Stops all reports, because the load is cancelled.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.upload = Track()
            state.download = Track()
        }
    }

    /// Reports the values that were kept back, then calls `completion`, on the delegate queue.
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

    /// Reports one value, and schedules the next report behind the queue's other work.
    ///
    /// A slow handler may always have another report due.
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

/// The progress in one direction: the value to report, the latest value and the last report.
private struct Track: Sendable {
    /// The value to report as soon as the queue has time.
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
