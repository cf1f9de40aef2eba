// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Dispatch
import Foundation

/// The thread of a log, and the lines that wait for it.
final class LogThread: Sendable {
    /// Wakes the task that waits for the end of the thread.
    let isOver = Waker()
    private let state: Locked<LogWriterState>
    /// The time for which lines are gathered: a reader of the log does not notice it, and the thread is
    /// woken some hundred times a second, and not once for each of thousands of lines.
    private static let gatherTime = DispatchTimeInterval.milliseconds(5)
    /// Signalled once each time the state changes to awake; a signal too many is a round for nothing.
    private let bell = DispatchSemaphore(value: 0)
    private let file: Locked<LogFile?>
    /// Held while the path is opened: of two callers, the one that opened it last must
    /// publish its file last.
    private let reopening = Locked(())
    private let output: AccessLog.Output
    private let format: AccessLog.Format
    private let timekeeper: any Timekeeper

    init(
        _ file: LogFile, of log: AccessLog, timekeeper: any Timekeeper
    ) {
        self.file = Locked(file)
        output = log.output
        format = log.format
        self.timekeeper = timekeeper
        state = Locked(LogWriterState(capacity: log.buffer))
    }

    var counts: LogCounts { state.withLock { $0.counts } }

    var trouble: LogTrouble? { state.withLock { $0.trouble } }

    /// Changes the state, and wakes the thread if `change` returns true.
    func update(_ change: (inout LogWriterState) -> Bool) {
        if state.withLock({ change(&$0) }) { bell.signal() }
    }

    /// Opens the path again and uses that file from now on.
    ///
    /// It is opened by the caller, because the thread may be waiting for the disk of the old file.
    func reopen() {
        guard case .file = output else { return }
        reopening.withLock { _ in openAndPublish() }
    }

    private func openAndPublish() {
        let file = try? LogFile(output)
        let now = timekeeper.now
        var unused: LogFile?
        update { state in
            let (wakes, old) = state.reopen(file, at: now)
            unused = old
            return wakes
        }
        // A file that was never used is closed outside the lock.
        withExtendedLifetime(unused) {}
    }

    /// Starts the thread, which keeps this object until it ends.
    func start() {
        let thread = Thread { [self] in
            BlockedSignals.blockAll()
            if let file = file.withLock({ $0.take() }) { run(file) }
            isOver.wake()
        }
        thread.stackSize = 512 * 1_024
        thread.start()
    }

    private func run(_ first: LogFile) {
        var file = first
        while true {
            let now = timekeeper.now
            let step = state.withLock { $0.nextStep(at: now, pieceLength: file.pieceLength) }
            switch step {
            case .use(let next): file = next
            case .reopen: reopen()
            case .gather: _ = bell.wait(timeout: .now() + Self.gatherTime)
            case .sleep: bell.wait()
            case .end: return
            case .write(let lines):
                let lost = file.write(lines)
                let (written, now) = (lines.lineCount - lost, timekeeper.now)
                state.withLock { $0.noteWritten(written, lost: lost, at: now) }
            case .skip(let lines):
                let count = lines.lineCount
                state.withLock { $0.noteSkipped(count) }
            case .tell(let count):
                let isWritten =
                    file.write(LogLine.dropped(count, at: timekeeper.date, format)) == 0
                let now = timekeeper.now
                state.withLock { $0.noteTold(count, isWritten: isWritten, at: now) }
            }
        }
    }
}
