// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import CCurl
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A message to a loop from another thread.
enum LoopMessage: Sendable {
    case start(CurlTask)
    case cancel(CurlTask)
    case resume(CurlTask)
    /// The feed of an upload has bytes, has ended or has failed.
    case bodyReady(CurlTask)
    case resolved(String, NameAnswer)
    /// Run the job of a task.
    case run(LoopExecutor.Job)
    /// Show that the loop is not blocked.
    case echo(@Sendable () -> Void)
    /// Drop idle connections and names; the closure runs afterwards.
    case reset(@Sendable () -> Void)
    /// No more starts will come: end after the last transfer.
    case retire
    /// End every transfer now, then the loop.
    case shutDown
    /// The process exits: leave at once, without cleaning up.
    case exit
}

/// The messages of other threads to a loop: a queue under a lock, and an eventfd that wakes the
/// loop.
final class LoopMailbox: Sendable {
    private struct State {
        var messages: [LoopMessage] = []
        /// Nil once the loop has ended.
        var wakeEvent: EventDescriptor?
    }

    /// What the loop tells of itself.
    let figures = LoopFigures()
    private let state: Locked<State>
    private let isAsleep = Atomic<Bool>(false)
    private let forks = ccurl_forks()

    /// Makes a mailbox whose event becomes readable, edge-triggered, when there are messages.
    init(wakeEvent: EventDescriptor) {
        state = Locked(State(wakeEvent: wakeEvent))
    }

    /// Whether this is a copy in a forked child, where the loop's thread does not exist.
    var isForked: Bool { ccurl_forks() != forks }

    /// Adds a message; returns false and does nothing once the loop has ended.
    @discardableResult
    func post(_ message: LoopMessage) -> Bool {
        // Another thread may have held the lock when the process was forked.
        guard !isForked else { return false }
        let wakeEvent = state.withLock { state in
            if state.wakeEvent != nil { state.messages.append(message) }
            return state.wakeEvent
        }
        guard let wakeEvent else { return false }
        // One system call wakes the loop, however many messages come: the first poster resets
        // the flag.
        if isAsleep.exchange(false, ordering: .sequentiallyConsistent) { wakeEvent.signal() }
        return true
    }

    /// Takes all messages, in exchange for an empty array; called by the loop.
    func take(into messages: inout [LoopMessage]) {
        state.withLock { swap(&$0.messages, &messages) }
    }

    /// Announces that the loop will wait; false when a message came before.
    func fallAsleep() -> Bool {
        isAsleep.store(true, ordering: .sequentiallyConsistent)
        let isEmpty = state.withLock { $0.messages.isEmpty }
        if !isEmpty { isAsleep.store(false, ordering: .sequentiallyConsistent) }
        return isEmpty
    }

    func wokeUp() {
        isAsleep.store(false, ordering: .sequentiallyConsistent)
    }

    /// Refuses messages from now on, and returns those that were not taken.
    func close() -> [LoopMessage] {
        state.withLock { state in
            state.wakeEvent = nil
            defer { state.messages = [] }
            return state.messages
        }
    }
}

/// An eventfd, closed with its last reference, so that a late signal cannot reach a reused
/// descriptor.
final class EventDescriptor: Sendable {
    let descriptor: Int32

    /// Makes an eventfd; nil when the process is out of descriptors.
    init?() {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { return nil }
    }

    deinit {
        closeDescriptor(descriptor)
    }

    func signal() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }
}
