// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingOperations
import DataLoadingSupport
import Testing

@Suite struct LogWriterStateTests {
    private static let line = Array("1234567\n".utf8)

    private static func instant(_ milliseconds: Int64) -> Instant {
        Instant(nanoseconds: milliseconds * 1_000_000)
    }

    /// A word for the next step.
    private static func step(_ state: inout LogWriterState, at milliseconds: Int64 = 0) -> String {
        switch state.nextStep(at: instant(milliseconds), pieceLength: 16) {
        case .gather: "gather"
        case .use: "use"
        case .reopen: "reopen"
        case .write(let lines): "write \(lines.count)"
        case .skip(let lines): "skip \(lines.count)"
        case .tell(let count): "tell \(count)"
        case .sleep: "sleep"
        case .end: "end"
        }
    }

    @Test func `the thread of a log is woken once, and sleeps when there is no line left`() {
        var state = LogWriterState(capacity: 0)
        let wakes = (0..<3).map { _ in state.append(Self.line) }
        #expect(wakes == [true, false, false])
        let steps = (0..<4).map { _ in Self.step(&state) }
        #expect(steps == ["gather", "write 16", "write 8", "sleep"])
        let wakesAgain = state.append(Self.line)
        #expect(wakesAgain)
    }

    @Test func `lines are gathered for a moment, or until they are a quarter of the buffer`() {
        var state = LogWriterState(capacity: 0)
        _ = state.append(Self.line)
        #expect(Self.step(&state) == "gather")
        // The moment is over.
        #expect((0..<2).map { _ in Self.step(&state) } == ["write 8", "sleep"])
        _ = state.append(Self.line)
        #expect(Self.step(&state) == "gather")
        // A quarter of the shortest buffer is 1,024 bytes.
        let wakes = (0..<130).map { _ in state.append(Self.line) }
        #expect(wakes.firstIndex(of: true) == 126)
        #expect(wakes.count(where: \.self) == 1)
        #expect(Self.step(&state) == "write 16")
    }

    @Test func `a file that could not be opened again is tried once a second while lines come`() {
        var state = LogWriterState(capacity: 0)
        let wakes = state.reopen(nil, at: Self.instant(0)).wakes
        #expect(!wakes)
        _ = state.append(Self.line)
        let steps = ["gather", "write 8", "sleep"]
        #expect((0..<3).map { _ in Self.step(&state, at: 999) } == steps)
        _ = state.append(Self.line)
        #expect(Self.step(&state, at: 1_000) == "reopen")
        _ = state.reopen(nil, at: Self.instant(1_000))
        #expect((0..<3).map { _ in Self.step(&state, at: 1_001) } == steps)
        _ = state.append(Self.line)
        #expect(Self.step(&state, at: 2_000) == "reopen")
        #expect(Self.step(&state, at: 9_000) == "gather")
        #expect(state.counts.failedReopenings == 2)
        #expect(state.trouble == .reopening)
    }

    @Test func `a log that is closed while it gathers is written at once`() {
        var state = LogWriterState(capacity: 0)
        _ = state.append(Self.line)
        #expect(Self.step(&state) == "gather")
        let wakes = state.close()
        #expect(wakes)
        #expect((0..<2).map { _ in Self.step(&state) } == ["write 8", "end"])
    }

    @Test func `a full log drops the new line, and tells the number when there is room`() {
        var state = LogWriterState(capacity: 0)
        for _ in 0..<515 { _ = state.append(Self.line) }
        #expect(state.counts.dropped == 3)
        let first = Self.step(&state)
        #expect(first == "tell 3")
        state.noteTold(3, isWritten: true, at: Self.instant(0))
        let second = Self.step(&state)
        #expect(second == "write 16")
    }

    @Test func `a log tries a full disk once a second, and leaves out lines in between`() {
        var state = LogWriterState(capacity: 0)
        _ = state.append(Self.line)
        let first = (0..<2).map { _ in Self.step(&state) }
        #expect(first == ["gather", "write 8"])
        state.noteWritten(0, lost: 1, at: Self.instant(0))
        let asleep = Self.step(&state, at: 500)
        #expect(asleep == "sleep")
        #expect(state.trouble == .writing)
        _ = state.append(Self.line)
        let second = (0..<2).map { _ in Self.step(&state, at: 999) }
        #expect(second == ["gather", "skip 8"])
        state.noteSkipped(1)
        _ = state.append(Self.line)
        let third = Self.step(&state, at: 1_000)
        #expect(third == "tell 2")
        state.noteTold(2, isWritten: false, at: Self.instant(1_000))
        let steps = (0..<2).map { _ in Self.step(&state, at: 1_999) }
        #expect(steps == ["skip 8", "sleep"])
        state.noteSkipped(1)
        _ = state.append(Self.line)
        let last = Self.step(&state, at: 2_000)
        #expect(last == "tell 3")
        state.noteTold(3, isWritten: true, at: Self.instant(2_000))
        let rest = (0..<3).map { _ in Self.step(&state, at: 2_000) }
        #expect(rest == ["gather", "write 8", "sleep"])
        #expect(state.counts.dropped == 3)
        #expect(state.trouble == nil)
    }

    @Test func `a closed log gives a full disk a last chance, and takes no line any more`() {
        var state = LogWriterState(capacity: 0)
        _ = state.append(Self.line)
        for _ in 0..<2 { _ = Self.step(&state) }
        state.noteWritten(0, lost: 1, at: Self.instant(0))
        _ = state.append(Self.line)
        let wakes = [state.close(), state.close(), state.append(Self.line)]
        #expect(wakes == [false, false, false])
        #expect(state.counts.dropped == 2)
        let told = Self.step(&state)
        #expect(told == "tell 2")
        state.noteTold(2, isWritten: false, at: Self.instant(0))
        let steps = (0..<2).map { _ in Self.step(&state) }
        #expect(steps == ["skip 8", "end"])
    }

    @Test func `an abandoned log counts what it did not write as dropped`() {
        var state = LogWriterState(capacity: 0)
        for _ in 0..<5 { _ = state.append(Self.line) }
        let steps = (0..<2).map { _ in Self.step(&state) }
        #expect(steps == ["gather", "write 16"])
        _ = state.close()
        state.abandon()
        state.noteWritten(2, lost: 0, at: Self.instant(0))
        let step = Self.step(&state)
        #expect(step == "end")
        #expect(state.counts == LogCounts(written: 2, dropped: 3))
    }
}
