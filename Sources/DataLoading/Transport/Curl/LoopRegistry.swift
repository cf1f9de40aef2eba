// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import Dispatch

    #if canImport(Glibc)
        import Glibc
    #else
        import Musl
    #endif

    /// A running loop: its mailbox, its thread, and who waits for its end.
    final class LoopHandle: Sendable {
        private struct State {
            var thread: pthread_t?
            var isOver = false
            var abandoned: UInt = 0
            var waiters: [@Sendable () -> Void] = []
        }

        let mailbox: LoopMailbox
        private let state = Locked(State())
        private let hasLeft = DispatchSemaphore(value: 0)

        private init(mailbox: LoopMailbox) {
            self.mailbox = mailbox
        }

        /// Starts a loop; nil when the process is out of threads or descriptors.
        static func start(library: CurlLibrary, setup: LoopSetup) -> LoopHandle? {
            guard let bell = EventDescriptor(), let poll = EventPoll(watching: bell) else {
                return nil
            }
            let handle = LoopHandle(mailbox: LoopMailbox(bell: bell))
            LoopRegistry.add(handle)
            let started = LoopThread.start("DataLoading") {
                let loop = CurlLoop(
                    library: library, mailbox: handle.mailbox, poll: poll, setup: setup)
                // In exit() nothing may be touched that others are taking down.
                guard loop.run() == .shutDown else { return handle.leave(loop) }
                loop.close()
                handle.leave(nil)
                handle.reap()
            }
            guard let started else {
                LoopRegistry.remove(handle)
                return nil
            }
            handle.state.withLock { $0.thread = started }
            return handle
        }

        /// Whether the thread is there.
        var isRunning: Bool { state.withLock { !$0.isOver } }

        /// Returns when the thread and its descriptors are gone.
        func waitUntilOver() async {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let isOver = state.withLock { state in
                    if !state.isOver { state.waiters.append { continuation.resume() } }
                    return state.isOver
                }
                if isOver { continuation.resume() }
            }
        }

        /// Stops the loop for exit(), unless it is the loop itself that exits.
        fileprivate func stopForExit() {
            guard !mailbox.isForked else { return }
            let isSelf = state.withLock { state in
                state.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false
            }
            guard !isSelf else { return }
            // Not taken by a loop that is ending anyway, which then is waited for all the same.
            mailbox.post(.exit)
            // A sink that blocks in its callback must not hold the exit up for ever.
            guard hasLeft.wait(timeout: .now() + .seconds(2)) == .success else { return }
            join()
        }

        /// Says that the thread will touch nothing any more.
        ///
        /// A loop that is left as it stands stays reachable, so that a leak checker counts nothing.
        private func leave(_ loop: CurlLoop?) {
            if let loop {
                let address = UInt(bitPattern: Unmanaged.passRetained(loop).toOpaque())
                state.withLock { $0.abandoned = address }
            }
            hasLeft.signal()
        }

        /// Joins the thread, unless somebody else does.
        private func join() {
            let thread = state.withLock { state in
                defer { state.thread = nil }
                return state.thread
            }
            if let thread { pthread_join(thread, nil) }
        }

        /// Joins the thread that is about to end; on a thread that may block for that moment.
        private func reap() {
            // A queue of its own: the global ones may be busy with what blocks.
            DispatchQueue(label: "DataLoading.reaper").async {
                self.join()
                LoopRegistry.remove(self)
                let waiters = self.state.withLock { state in
                    state.isOver = true
                    defer { state.waiters = [] }
                    return state.waiters
                }
                for waiter in waiters { waiter() }
            }
        }
    }

    /// Every running loop of the process, to be stopped before exit() takes OpenSSL down.
    enum LoopRegistry {
        private static let loops = Locked<[LoopHandle]>([])

        fileprivate static func add(_ loop: LoopHandle) {
            loops.withLock { $0.append(loop) }
        }

        fileprivate static func remove(_ loop: LoopHandle) {
            loops.withLock { loops in loops.removeAll { $0 === loop } }
        }

        /// Stops every loop; runs inside exit().
        static func stopAllForExit() {
            // Copied, because a loop that ends by itself wants to be removed meanwhile.
            let running = loops.withLock { $0 }
            for loop in running { loop.stopForExit() }
        }
    }
#endif
