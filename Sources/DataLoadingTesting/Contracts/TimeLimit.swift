// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoading
import Dispatch

/// Runs code of a user that may never return.
struct TimeLimit: Sendable {
    let duration: Duration

    init(_ duration: Duration) {
        self.duration = duration
    }

    /// Runs code on a thread of its own; returns nil when it does not return in time.
    func runBlocking<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value? {
        await first { end in DispatchQueue(label: "contract").async { end(body()) } }
    }

    /// Runs a task; returns nil when it does not end in time, and then cancels it.
    func runTask<Value: Sendable>(
        _ body: @escaping @Sendable () async -> Value
    ) async -> Value? {
        let task = Locked<Task<Void, Never>?>(nil)
        let value = await first { end in
            task.withLock { $0 = Task { end(await body()) } }
        }
        if value == nil { task.withLock { $0 }?.cancel() }
        return value
    }

    /// Returns the first value that `start`'s parameter receives, nil when none comes in time.
    ///
    /// The limit is slept in ten parts by a task: where hundreds of tests share the pool's few
    /// threads, it lasts longer, as the code does that it measures. Ten times the limit is the end
    /// even where that code blocks the whole pool.
    private func first<Value: Sendable>(
        _ start: (@escaping @Sendable (Value?) -> Void) -> Void
    ) async -> Value? {
        let sleep = Locked<Task<Void, Never>?>(nil)
        let value = await withCheckedContinuation { continuation in
            let waiting = Locked<CheckedContinuation<Value?, Never>?>(continuation)
            let end: @Sendable (Value?) -> Void = { value in
                waiting.withLock { $0.take() }?.resume(returning: value)
            }
            let part = duration / 10
            let task = Task {
                for _ in 0..<10 { try? await Task.sleep(for: part) }
                end(nil)
            }
            sleep.withLock { $0 = task }
            let whole = Int(clamping: duration.wholeNanoseconds)
            let last = whole > .max / 10 ? .max : whole * 10
            DispatchQueue(label: "contract.limit")
                .asyncAfter(deadline: .now() + .nanoseconds(last)) { end(nil) }
            start(end)
        }
        sleep.withLock { $0 }?.cancel()
        return value
    }
}
