// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Writes the lines of a log on a thread of its own, so that no caller waits for a disk.
///
/// The thread sleeps while there is no line. It writes what is left, and ends, when the log is
/// closed or released.
final class LogWriter: Sendable {
    private let thread: LogThread
    private let timerQueue: TimerQueue
    private let closing = Locked<Task<Bool, Never>?>(nil)

    /// Opens the output and starts the thread.
    init(_ log: AccessLog, timekeeper: any Timekeeper) throws(LogFileError) {
        timerQueue = TimerQueue(timekeeper: timekeeper)
        thread = LogThread(
            try LogFile(log.output), of: log, timekeeper: timekeeper)
        thread.start()
    }

    deinit {
        thread.update { $0.close() }
    }

    /// What became of the lines so far.
    var counts: LogCounts { thread.counts }

    var trouble: LogTrouble? { thread.trouble }

    /// Adds a line, or drops and counts it when there is no room or the log is closed.
    func append(_ line: UnsafeBufferPointer<UInt8>) {
        thread.update { $0.append(line) }
    }

    /// Opens the path again, after a rotation has renamed the file.
    ///
    /// Lines before and after the change are whole, and none is lost. If the path cannot be opened,
    /// the log continues with the file that it has, counts that, and tries again once a second while it
    /// has lines to write.
    func reopen() { thread.reopen() }

    /// Writes what waits and closes the file; false if that took longer than a limit.
    ///
    /// The rest is then dropped. Further calls wait for the first one.
    func close(within limit: Duration) async -> Bool {
        let task = closing.withLock { closing in
            let task = closing ?? Task { await thread.close(within: limit, timerQueue) }
            closing = task
            return task
        }
        return await task.value
    }
}

extension LogThread {
    /// Waits until everything is written; after the limit the rest is dropped, and it returns false.
    fileprivate func close(within limit: Duration, _ timerQueue: TimerQueue) async -> Bool {
        update { $0.close() }
        if await timerQueue.wait(atMost: limit, for: { await self.isOver.wait() }) { return true }
        update { state in
            state.abandon()
            return false
        }
        return false
    }
}
