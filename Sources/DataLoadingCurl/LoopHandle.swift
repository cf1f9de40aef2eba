// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Dispatch

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A running loop with its mailbox, its threads, and the callers that wait for its end.
///
/// One thread runs the loop. Once calls of users' code are made on it there is a second one, which
/// runs the loop instead when such a call blocks. The thread that is blocked ends with its call, and
/// keeps the loop's memory and its descriptor of epoll until then.
final class LoopHandle: LibcurlThread {
    private struct State {
        /// The thread that runs the loop.
        var leader: pthread_t?
        /// The thread that will when a call of users' code blocks.
        var follower: pthread_t?
        /// The number of threads that are blocked in a call.
        var blocked = 0
        var isOver = false
        var abandoned: UInt = 0
        var waiters: [@Sendable () -> Void] = []

        /// Whether the calling thread runs the loop.
        var isCurrent: Bool { leader.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    }

    /// How long a call may run, in microseconds, before another thread runs the loop, and at most
    /// twice as long: waking that thread a thousand times a second takes less than 1 % of a core.
    private static let look: UInt32 = 1_000
    /// The maximum number of blocked threads; with so many, calls are made on their queues.
    private static let maxBlocked = 16

    let mailbox: LoopMailbox
    private let seat = LoopSeat()
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
            handle.state.withLock { $0.leader = pthread_self() }
            let loop = CurlLoop(
                library: library, mailbox: handle.mailbox, poll: poll, setup: setup,
                seat: handle.seat)
            loop.calls.recruit = { [weak loop] in loop.map(handle.recruit) ?? false }
            handle.lead(loop)
        }
        guard started != nil else {
            LoopRegistry.remove(handle)
            return nil
        }
        return handle
    }

    /// Runs the loop on this thread, to its end or until another thread does.
    private func lead(_ loop: CurlLoop) {
        switch loop.run() {
        // No lock may be taken: a thread that the child does not have may have held it.
        case .forked: break
        case .replaced:
            state.withLock { $0.blocked -= 1 }
            LoopRegistry.stayDuringExit()
        // During exit() nothing may be used that exit handlers release.
        case .exit: leave(loop)
        case .shutDown:
            loop.close()
            loop.calls.makeElsewhere()
            leave(nil)
            reap()
        }
    }

    /// Starts the thread that runs the loop when a call of users' code blocks; false when the process
    /// can have no more, and while many are blocked.
    private func recruit(for loop: CurlLoop) -> Bool {
        guard state.withLock({ $0.blocked < Self.maxBlocked }) else { return false }
        // It is touched by the thread that has the seat only.
        nonisolated(unsafe) let loop = loop
        let started = LoopThread.start("DataLoading") {
            let takes = self.seat.standBy(pause: { usleep(Self.look) }, take: self.replaceLeader)
            guard takes else { return }
            loop.takeOver()
            self.lead(loop)
        }
        guard let started else { return false }
        state.withLock { $0.follower = started }
        return true
    }

    /// Makes the follower the leader, unless the call of a number has ended.
    private func replaceLeader(in call: UInt64) -> Bool {
        state.withLock { state in
            guard seat.endCall(call) else { return false }
            // It ends with its call, which may last; no shut-down waits for it.
            if let leader = state.leader { pthread_detach(leader) }
            state.leader = state.follower.take()
            state.blocked += 1
            return true
        }
    }

    /// Whether a thread runs the loop, or is about to end.
    var isRunning: Bool { state.withLock { !$0.isOver } }

    /// Returns when the threads and the descriptors are gone, but for a thread in a call of users' code.
    func waitUntilOver() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isOver = state.withLock { state in
                if !state.isOver { state.waiters.append { continuation.resume() } }
                return state.isOver
            }
            if isOver { continuation.resume() }
        }
    }

    /// Whether the calling thread runs the loop.
    var isCurrent: Bool { state.withLock(\.isCurrent) }

    /// Whether exit() has to stop the loop: not in a forked child, which has no thread of it, and
    /// not on the loop's own thread.
    var mustStopForExit: Bool {
        guard !mailbox.isForked else { return false }
        return state.withLock { state in
            // The loop stays where it is: this thread, in a call of it, does not return.
            if state.isCurrent { seat.keep() }
            return !state.isCurrent
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

    /// Joins the threads, unless another caller does.
    private func join() {
        let threads = state.withLock { state in
            [state.leader.take(), state.follower.take()]
        }
        seat.close()
        for case let thread? in threads { pthread_join(thread, nil) }
    }

    /// Joins the threads, which are about to end, on a thread that may block for that moment.
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
