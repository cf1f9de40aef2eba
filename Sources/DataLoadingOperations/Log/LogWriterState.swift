// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// What a log has to do: its lines, its next file, and whether its thread sleeps.
///
/// Lines are gathered for a moment before they are written: a thread that is woken for each line, and
/// writes it, costs more than the line.
struct LogWriterState {
    private enum Stage {
        case asleep
        case awake
        /// The thread waits for more lines, and not for long.
        case gathering
        /// The thread ends when everything is written.
        case closing
        /// The thread ends without writing any more.
        case abandoned
        case over
    }

    /// What the thread has to do next.
    enum Step {
        case use(LogFile)
        /// Try again to open the path.
        case reopen
        case write([UInt8])
        /// Lines to leave out, because an attempt to write has just failed.
        case skip([UInt8])
        /// The number of lines to report as missing.
        case tell(Int)
        /// Wait for more lines, for a moment.
        case gather
        case sleep
        case end
    }

    /// The pause after a failed attempt to write.
    private static let pause = Duration.seconds(1)

    private(set) var counts = LogCounts()
    private var stage = Stage.asleep
    private var ring: LineRing
    private var next: LogFile?
    /// When to try again to open the path, after a rotation whose file could not be opened.
    private var nextReopening: Instant?
    /// Whether lines go to the file of before a rotation, because the next one could not be opened.
    private var usesOldFile = false
    private var pauseEnd: Instant?
    /// Whether the last write has failed.
    private var isFailing = false
    /// In bytes.
    private let gatherLimit: Int
    private var hasGathered = false
    /// The number of dropped lines that no line of the log has reported yet.
    private var untold = 0

    init(capacity: Int) {
        ring = LineRing(capacity: capacity)
        gatherLimit = ring.capacity / 4
    }

    /// Adds a line, or drops and counts it; returns whether to wake the thread.
    mutating func append(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        guard isOpen, ring.append(line) else {
            drop(1)
            return false
        }
        return stage == .gathering && ring.count < gatherLimit ? false : wake()
    }

    /// Replaces the file; returns whether to wake the thread, and a file that was not used.
    ///
    /// Nil is a file that could not be opened: the thread tries again after a pause, before it writes.
    mutating func reopen(_ file: LogFile?, at now: Instant) -> (wakes: Bool, unused: LogFile?) {
        guard let file else {
            counts.failedReopenings += 1
            usesOldFile = true
            nextReopening = now + Self.pause
            return (false, nil)
        }
        guard isOpen else { return (false, file) }
        nextReopening = nil
        usesOldFile = false
        let unused = next
        next = file
        return (wake(), unused)
    }

    /// Ends the thread when everything is written; returns whether to wake it.
    mutating func close() -> Bool {
        guard isOpen else { return false }
        let wakes = wake()
        stage = .closing
        // A disk that was full gets a last chance.
        pauseEnd = nil
        return wakes
    }

    /// Ends the thread as soon as its last call returns.
    mutating func abandon() {
        if stage == .closing { stage = .abandoned }
    }

    /// The thread's next step, of at most so many bytes.
    mutating func nextStep(at now: Instant, pieceLength: Int) -> Step {
        if stage == .gathering { stage = .awake }
        if stage == .abandoned {
            drop(ring.removeAll())
            stage = .over
            return .end
        }
        if let file = next.take() {
            pauseEnd = nil
            return .use(file)
        }
        if let time = nextReopening, time <= now {
            nextReopening = nil
            return .reopen
        }
        if let end = pauseEnd, end <= now { pauseEnd = nil }
        if untold > 0, pauseEnd == nil { return .tell(untold) }
        if !ring.isEmpty {
            if stage == .awake, !hasGathered, ring.count < gatherLimit {
                hasGathered = true
                stage = .gathering
                return .gather
            }
            let lines = ring.takeLines(atMost: pieceLength)
            return pauseEnd == nil ? .write(lines) : .skip(lines)
        }
        hasGathered = false
        guard stage == .closing else {
            stage = .asleep
            return .sleep
        }
        stage = .over
        return .end
    }

    /// Counts the lines that were written, and those that could not be.
    mutating func noteWritten(_ written: Int, lost: Int, at now: Instant) {
        counts.written += written
        isFailing = lost > 0
        guard isFailing else { return }
        drop(lost)
        pauseEnd = now + Self.pause
    }

    /// Counts lines that were left out.
    mutating func noteSkipped(_ count: Int) { drop(count) }

    /// Notes whether the line about missing lines was written.
    mutating func noteTold(_ count: Int, isWritten: Bool, at now: Instant) {
        isFailing = !isWritten
        if isWritten {
            untold -= count
        } else {
            pauseEnd = now + Self.pause
        }
    }

    private mutating func drop(_ count: Int) {
        counts.dropped += count
        untold += count
    }

    /// What keeps lines from the file that the log's path names; nil while nothing does.
    var trouble: LogTrouble? {
        if isFailing { return .writing }
        return usesOldFile ? .reopening : nil
    }

    /// Whether lines are taken.
    private var isOpen: Bool {
        switch stage {
        case .asleep, .awake, .gathering: true
        case .closing, .abandoned, .over: false
        }
    }

    private mutating func wake() -> Bool {
        guard stage == .asleep || stage == .gathering else { return false }
        stage = .awake
        return true
    }
}
