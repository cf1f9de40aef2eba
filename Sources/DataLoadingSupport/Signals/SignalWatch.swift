// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation

/// Receives signals of the process, in place of their actions, until it ends.
package final class SignalWatch: Sendable {
    /// Any thread may use a source, which its type does not say.
    private struct Source: Sendable {
        nonisolated(unsafe) let source: any DispatchSourceSignal
    }

    private let numbers: Set<Int32>
    private let sources = Locked<[Source]>([])

    /// Begins to watch signals; each one that arrives after the return is received.
    ///
    /// Numbers that no process can receive are left out: those of no signal, `SIGKILL`, `SIGSTOP`.
    ///
    /// - Parameters:
    ///   - numbers: The signals.
    ///   - handler: Called on a queue of the watch, with the number of the signal; once for signals
    ///     of a number that arrive while it runs.
    package init(
        _ numbers: some Sequence<Int32>, handler: @escaping @Sendable (_ number: Int32) -> Void
    ) async {
        self.numbers = Set(numbers).filter(SignalActions.begin)
        let queue = DispatchQueue(label: "DataLoading.signals")
        for number in self.numbers {
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            let isRegistered = Waker()
            source.setEventHandler { handler(number) }
            source.setRegistrationHandler { isRegistered.wake() }
            // Without a free descriptor libdispatch cancels it instead.
            source.setCancelHandler { isRegistered.wake() }
            source.activate()
            sources.withLock { $0.append(Source(source: source)) }
            await isRegistered.wait()
            SignalActions.receive(number)
        }
    }

    deinit { end() }

    /// Restores the actions that the signals had; only the first call has an effect.
    package func end() {
        let ended = sources.withLock { sources in
            defer { sources = [] }
            return sources
        }
        guard !ended.isEmpty else { return }
        for one in ended { one.source.cancel() }
        for number in numbers { SignalActions.end(number) }
    }

    /// Calls `begin`, waits for the first of some signals or for the task's cancellation, and
    /// calls `end`.
    ///
    /// From the first signal on, all of them have their default actions: another one ends the
    /// process. A signal that arrives during `begin` ends the wait at once. The actions that the
    /// signals had are restored before it returns or throws.
    package static func run<Result, Failure: Error>(
        until numbers: some Sequence<Int32>, begin: () async throws(Failure) -> Void,
        end: () async -> Result
    ) async throws(Failure) -> Result {
        let (numbers, isOver, isWaiting) = (Set(numbers), Waker(), Locked(true))
        let watch = await SignalWatch(numbers) { number in
            let isFirst = isWaiting.withLock { isWaiting in
                defer { isWaiting = false }
                return isWaiting
            }
            SignalActions.restoreDefault(numbers)
            isOver.wake()
            // While the thread that received the first signal is in libdispatch's handler, it blocks
            // signals, and libdispatch may read the next one although it has its default action.
            if !isFirst { kill(getpid(), number) }
        }
        defer { watch.end() }
        try await begin()
        await withTaskCancellationHandler {
            await isOver.wait()
        } onCancel: {
            isOver.wake()
        }
        isWaiting.withLock { $0 = false }
        // Also after a cancellation, and for a signal that arrived before the last one was watched.
        SignalActions.restoreDefault(numbers)
        return await end()
    }
}
