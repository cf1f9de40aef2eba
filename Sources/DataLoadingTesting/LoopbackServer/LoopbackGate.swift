// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSockets
import DataLoadingSupport

/// A gate that holds scripts until it is opened, or tells a test how far a script has run.
///
/// A step `.wait(for: gate)` holds its connection until the test calls `open()`. In the other
/// direction, a step `.open(gate)` opens the gate and the test awaits `opened()`. Neither side
/// sleeps or polls. A gate stays open. Any number of connections, servers and tasks may use it,
/// from any thread.
public final class LoopbackGate: Sendable {
    private struct State {
        var isOpen = false
        /// Made for the first waiting thread, dropped with the last; an idle gate holds none.
        var pipe: WakePipe?
        var threads = 0
        var tasks: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextTask = 0
    }

    private let state = Locked(State())

    /// Makes a closed gate.
    public init() {}

    /// Whether it was opened.
    public var isOpen: Bool {
        state.withLock { $0.isOpen }
    }

    /// Opens the gate for good; opening it again has no effect.
    public func open() {
        let (pipe, tasks) = state.withLock { state in
            state.isOpen = true
            defer { state.tasks = [:] }
            return (state.pipe, Array(state.tasks.values))
        }
        pipe?.fire()
        for task in tasks { task.resume() }
    }

    /// Returns when the gate is open, or the task is cancelled.
    public func opened() async {
        let ticket = state.withLock { state in
            defer { state.nextTask += 1 }
            return state.nextTask
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Checked inside the lock, so that the handler below cannot run in between.
                let mayReturn = state.withLock { state in
                    if Task.isCancelled || state.isOpen { return true }
                    state.tasks[ticket] = continuation
                    return false
                }
                if mayReturn { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.tasks.removeValue(forKey: ticket) }?.resume()
        }
    }

    /// Runs `wait` with a descriptor that is ready once the gate opens; skips it for an open gate.
    func withDescriptor(_ wait: (Int32) throws -> Void) throws {
        guard let pipe = try enter() else { return }
        defer { leave() }
        try wait(pipe.descriptor)
    }

    private func enter() throws -> WakePipe? {
        try state.withLock { state in
            guard !state.isOpen else { return nil }
            let pipe = try state.pipe ?? WakePipe()
            state.pipe = pipe
            state.threads += 1
            return pipe
        }
    }

    private func leave() {
        state.withLock { state in
            state.threads -= 1
            if state.threads == 0 { state.pipe = nil }
        }
    }
}
