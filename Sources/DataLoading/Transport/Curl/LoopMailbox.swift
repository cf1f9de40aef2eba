// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import CCurl
    import Synchronization

    #if canImport(Glibc)
        import Glibc
    #else
        import Musl
    #endif

    /// What other threads tell a loop.
    enum LoopMessage: Sendable {
        case start(CurlTask)
        case cancel(CurlTask)
        case resume(CurlTask)
        /// The feed of an upload has bytes, has ended or has failed.
        case bodyReady(CurlTask)
        case resolved(String, NameAnswer)
        /// Idle connections and names are to be forgotten; the closure runs when they are.
        case reset(@Sendable () -> Void)
        /// No more starts will come: end when the last transfer has.
        case retire
        /// End every transfer now, then the loop.
        case shutDown
        /// The process exits: leave at once, without touching anything.
        case exit
    }

    /// The only way into a loop: messages under a lock, and an eventfd that wakes a sleeping loop.
    final class LoopMailbox: Sendable {
        private struct State {
            var messages: [LoopMessage] = []
            /// Nil once the loop has ended.
            var bell: EventDescriptor?
        }

        private let state: Locked<State>
        private let isAsleep = Atomic<Bool>(false)
        private let forks = ccurl_forks()

        /// Makes a mailbox whose bell becomes readable, edge-triggered, when there are messages.
        init(bell: EventDescriptor) {
            state = Locked(State(bell: bell))
        }

        /// Whether this is a copy in a forked child, where the loop's thread does not exist.
        var isForked: Bool { ccurl_forks() != forks }

        /// Hands a message over; false, and nothing done, once the loop has ended.
        @discardableResult
        func post(_ message: LoopMessage) -> Bool {
            // The lock may have been held by another thread when the process was forked.
            guard !isForked else { return false }
            let bell = state.withLock { state in
                if state.bell != nil { state.messages.append(message) }
                return state.bell
            }
            guard let bell else { return false }
            // One system call a nap, however many messages: the first poster resets the flag.
            if isAsleep.exchange(false, ordering: .sequentiallyConsistent) { bell.ring() }
            return true
        }

        /// Every message so far, in exchange for an empty array; for the loop alone.
        func take(into messages: inout [LoopMessage]) {
            state.withLock { swap(&$0.messages, &messages) }
        }

        /// Announces that the loop will sleep; false when a message came before.
        func fallAsleep() -> Bool {
            isAsleep.store(true, ordering: .sequentiallyConsistent)
            let isEmpty = state.withLock { $0.messages.isEmpty }
            if !isEmpty { isAsleep.store(false, ordering: .sequentiallyConsistent) }
            return isEmpty
        }

        func wokeUp() {
            isAsleep.store(false, ordering: .sequentiallyConsistent)
        }

        /// Refuses messages from now on; those that were not taken are the result.
        func close() -> [LoopMessage] {
            state.withLock { state in
                state.bell = nil
                defer { state.messages = [] }
                return state.messages
            }
        }
    }

    /// An eventfd, closed with its last reference, so that a late ring hits no stranger's descriptor.
    final class EventDescriptor: Sendable {
        let descriptor: Int32

        /// Makes one; nil when the process is out of descriptors.
        init?() {
            descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
            guard descriptor >= 0 else { return nil }
        }

        deinit {
            closeDescriptor(descriptor)
        }

        func ring() {
            var one: UInt64 = 1
            _ = write(descriptor, &one, 8)
        }
    }

    /// Closes a descriptor; for types that have a `close` of their own.
    func closeDescriptor(_ descriptor: Int32) {
        _ = close(descriptor)
    }
#endif
