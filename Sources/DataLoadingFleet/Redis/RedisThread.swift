// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSockets
import DataLoadingSupport
import Dispatch

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The thread of a client, which has its connection and does all that may block.
///
/// It also runs the tasks that ask for slots, and starts the loads that get them.
final class RedisThread: Sendable {
    /// The size of its stack in bytes, of which only touched pages take memory: a transport may end
    /// loads while they are started.
    private static let stackSize = 8 << 20
    private let signal: WakeSignal
    private let thread = Locked<NativeThread?>(nil)
    /// The thread's number in the process, once it runs.
    private let number = Locked<Int?>(nil)
    private let isExiting = Locked(false)
    private let forks = RedisStream.forks
    /// Signalled when the thread has closed its connection.
    let hasLeft = DispatchSemaphore(value: 0)
    private let core: RedisCore

    private init(_ core: RedisCore, _ signal: WakeSignal) {
        self.core = core
        self.signal = signal
    }

    /// Starts a thread; nil when the process can have no more, or no more descriptors.
    static func start(for core: RedisCore) -> RedisThread? {
        guard let signal = try? WakeSignal() else { return nil }
        let thread = RedisThread(core, signal)
        thread.register()
        guard let started = try? NativeThread(stackSize: stackSize, { thread.main() }) else {
            thread.unregister()
            return nil
        }
        thread.thread.withLock { $0 = started }
        return thread
    }

    /// Wakes the thread.
    func wake() { signal.ring() }

    /// Whether exit() has to stop it.
    var mustStop: Bool {
        forks == RedisStream.forks
            && number.withLock({ $0 }).map { $0 != NativeThread.currentNumber } ?? true
    }

    /// Ends the client during exit().
    func stopToExit() {
        isExiting.withLock { $0 = true }
        core.stop()
    }

    /// Waits for the end of the thread.
    func join() { thread.withLock { $0 }?.join() }

    private func main() {
        BlockedSignals.blockAll()
        Self.nameCurrent()
        number.withLock { $0 = NativeThread.currentNumber }
        var stream: RedisStream?
        var pending: [UInt8] = []
        var parser = RESPParser()
        loop: while true {
            let job = core.takeJob()
            if case .serve = job {} else { stream = nil }
            switch job {
            case .rest: wait(for: nil, toSend: false, until: nil)
            case .pause(let end): wait(for: nil, toSend: false, until: end)
            case .connect(let index):
                stream = connect(index)
                (pending, parser) = ([], RESPParser())
            case .serve(let limit):
                guard let stream else {
                    core.onThread { $0.lose(.closed, now: $1) }
                    continue
                }
                do throws(RedisFailure) {
                    try send(&pending, on: stream)
                    if wait(for: stream, toSend: !pending.isEmpty, until: limit) {
                        try receive(from: stream, &parser)
                    }
                } catch {
                    core.onThread { $0.lose(error, now: $1) }
                }
            case .end: break loop
            }
        }
        hasLeft.signal()
        // What exit handlers release must not be used from now on.
        if !isExiting.withLock({ $0 }) { reap() }
    }

    private func reap() {
        // It has its own queue, because tasks that block may occupy the global ones.
        DispatchQueue(label: "DataLoading.reaper").async {
            self.join()
            self.unregister()
            self.core.threadEnded()
        }
    }

    private func connect(_ index: Int) -> RedisStream? {
        let configuration = core.configuration
        do throws(RedisFailure) {
            guard configuration.endpoints.indices.contains(index) else { throw .noEndpoint }
            let password = try readPassword(configuration)
            let stream = try RedisStream(to: configuration.endpoints[index], configuration)
            core.onThread { machine, now in
                machine.connected(
                    user: configuration.user, password: password, name: configuration.name,
                    now: now)
                return []
            }
            return stream
        } catch {
            core.onThread { $0.lose(error, now: $1) }
            return nil
        }
    }

    private func readPassword(
        _ configuration: RedisConfiguration
    ) throws(RedisFailure) -> String? {
        do {
            return try configuration.password?()
        } catch {
            throw .password
        }
    }

    private func send(_ pending: inout [UInt8], on stream: RedisStream) throws(RedisFailure) {
        pending += core.takeOutgoing()
        while !pending.isEmpty {
            let count = try stream.send(pending)
            guard count > 0 else { return }
            pending.removeFirst(count)
        }
    }

    /// Waits until a stream is ready, the thread is woken, or an instant has come; returns whether
    /// the stream is ready.
    @discardableResult private func wait(
        for stream: RedisStream?, toSend: Bool, until limit: Instant?
    ) -> Bool {
        var events = [pollfd(signal.descriptor, for: Int32(POLLIN))]
        if let stream {
            let kinds = Int32(POLLIN) | (toSend ? Int32(POLLOUT) : 0)
            events.append(pollfd(stream.descriptor, for: kinds))
        }
        SystemCall.awaitEvents(&events, milliseconds: milliseconds(until: limit))
        if events[0].isReady { signal.clear() }
        return events.count > 1 && events[1].isReady
    }

    /// The time until an instant, rounded up; -1 without one.
    private func milliseconds(until limit: Instant?) -> Int32 {
        guard let limit else { return -1 }
        let left = max(0, limit.nanoseconds(since: core.now))
        return Int32(clamping: left / 1_000_000 + (left % 1_000_000 > 0 ? 1 : 0))
    }

    /// Receives until there is nothing more, or the connection is given up.
    private func receive(
        from stream: RedisStream, _ parser: inout RESPParser
    ) throws(RedisFailure) {
        while case let piece = try stream.receive(), !piece.isEmpty {
            parser.add(piece)
            do throws(RESPFault) {
                while let reply = try parser.next() {
                    guard core.onThread({ $0.receive(reply, now: $1) }) else { return }
                }
            } catch {
                throw .malformed(error)
            }
            // A server may send without end what is no reply.
            guard core.onThread({ _, _ in [] }) else { return }
        }
    }
}
