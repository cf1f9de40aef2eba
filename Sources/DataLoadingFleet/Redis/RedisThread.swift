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
/// It also takes the answers that give slots, and starts the loads that get them.
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
        // The descriptor of the connection, while there is one.
        var descriptor: Int32?
        var parser = RESPParser()
        loop: while true {
            let job = core.takeJob()
            if case .serve = job {
            } else {
                core.connection.close()
                descriptor = nil
            }
            switch job {
            case .rest: wait(for: nil, toSend: false, until: nil)
            case .pause(let end): wait(for: nil, toSend: false, until: end)
            case .connect(let index):
                descriptor = connect(index)
                parser = RESPParser()
            case .serve(let limit):
                guard let descriptor else {
                    core.onThread { $0.lose(.closed, now: $1) }
                    continue
                }
                do throws(RedisFailure) {
                    let isSent = try core.connection.send(core.takeOutgoing)
                    if wait(for: descriptor, toSend: !isSent, until: limit) {
                        try receive(&parser)
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

    /// Connects to an endpoint; returns the connection's descriptor.
    private func connect(_ index: Int) -> Int32? {
        let configuration = core.configuration
        do throws(RedisFailure) {
            guard configuration.endpoints.indices.contains(index) else { throw .noEndpoint }
            let password = try readPassword(configuration)
            let stream = try RedisStream(to: configuration.endpoints[index], configuration)
            let descriptor = stream.descriptor
            core.connection.open(stream)
            core.onThread { machine, now in
                machine.connected(
                    user: configuration.user, password: password, name: configuration.name,
                    now: now)
                return []
            }
            return descriptor
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

    /// Waits until a connection is ready, the thread is woken, or an instant has come; returns
    /// whether the connection is ready.
    @discardableResult private func wait(
        for descriptor: Int32?, toSend: Bool, until limit: Instant?
    ) -> Bool {
        var events = [pollfd(signal.descriptor, for: Int32(POLLIN))]
        if let descriptor {
            let kinds = Int32(POLLIN) | (toSend ? Int32(POLLOUT) : 0)
            events.append(pollfd(descriptor, for: kinds))
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
    private func receive(_ parser: inout RESPParser) throws(RedisFailure) {
        while case let piece = try core.connection.receive(), !piece.isEmpty {
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
