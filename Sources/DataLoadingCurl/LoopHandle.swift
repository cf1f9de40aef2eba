// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Dispatch

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A running loop with its mailbox, its thread, and the callers that wait for its end.
final class LoopHandle: LibcurlThread {
    private struct State {
        var thread: pthread_t?
        var isOver = false
        var abandoned: UInt = 0
        var waiters: [@Sendable () -> Void] = []
    }

    let mailbox: LoopMailbox
    private let state = Locked(State())
    private let hasLeftLibcurl = DispatchSemaphore(value: 0)

    private init(mailbox: LoopMailbox) {
        self.mailbox = mailbox
    }

    /// Starts a loop; nil when the process is out of threads or descriptors.
    static func start(library: CurlLibrary, setup: LoopSetup) -> LoopHandle? {
        guard let wakeEvent = EventDescriptor(), let poll = EventPoll(watching: wakeEvent)
        else {
            return nil
        }
        let handle = LoopHandle(mailbox: LoopMailbox(wakeEvent: wakeEvent))
        LoopRegistry.add(handle)
        let started = LoopThread.start("DataLoading") {
            let loop = CurlLoop(
                library: library, mailbox: handle.mailbox, poll: poll, setup: setup)
            // During exit() nothing may be used that exit handlers release.
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

    /// Whether the thread has not ended.
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

    /// Whether the calling thread is the loop's.
    var isCurrent: Bool {
        state.withLock { state in
            state.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false
        }
    }

    /// Whether exit() has to stop the loop: not in a forked child, which has no thread of it, and
    /// not on the loop's own thread.
    var mustStopForExit: Bool {
        guard !mailbox.isForked else { return false }
        return state.withLock { state in
            state.thread.map { pthread_equal($0, pthread_self()) == 0 } ?? true
        }
    }

    /// Tells the loop to leave libcurl; one that is ending already does not take the message.
    func stopForExit() { mailbox.post(.exit) }

    /// Waits until the loop has left libcurl, as it was told to for exit().
    func waitForExit(until deadline: DispatchTime) {
        guard hasLeftLibcurl.wait(timeout: deadline) == .success else { return }
        join()
    }

    /// Signals that the thread has left libcurl.
    ///
    /// A loop that is abandoned stays reachable, so that a leak checker does not count it.
    private func leave(_ loop: CurlLoop?) {
        if let loop {
            let address = UInt(bitPattern: Unmanaged.passRetained(loop).toOpaque())
            state.withLock { $0.abandoned = address }
        }
        hasLeftLibcurl.signal()
    }

    /// Joins the thread, unless another caller does.
    private func join() {
        let thread = state.withLock { state in
            defer { state.thread = nil }
            return state.thread
        }
        if let thread { pthread_join(thread, nil) }
    }

    /// Joins the thread, which is about to end, on a thread that may block for that moment.
    private func reap() {
        // It has its own queue, because tasks that block may occupy the global ones.
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
