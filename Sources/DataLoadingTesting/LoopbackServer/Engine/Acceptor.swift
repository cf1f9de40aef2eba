// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSockets
import DataLoadingSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Accepts connections on one listening socket and gives each a thread, until it is stopped.
final class Acceptor: Sendable {
    private struct Threads {
        var accepting: NativeThread?
        var serving: [Int: NativeThread] = [:]
        /// The threads that are about to exit, which can be joined without a wait.
        var finished: [Int] = []
        var resetsOnStop = false
    }

    private let listener: Int32
    private let recorder: Recorder
    private let configuration: LoopbackServer.Configuration
    private let script: Locked<LoopbackScript>
    private let cipher: LoopbackServer.Cipher?
    private let wakeUp: WakePipe
    private let threads = Locked(Threads())

    /// Takes over a bound socket and starts to accept; closes the socket in the end or on failure.
    init(
        listener: Int32, recorder: Recorder, configuration: LoopbackServer.Configuration,
        script: Locked<LoopbackScript>, cipher: LoopbackServer.Cipher?
    ) throws {
        self.listener = listener
        self.recorder = recorder
        self.configuration = configuration
        self.script = script
        self.cipher = cipher
        do {
            wakeUp = try WakePipe()
            try ListeningSocket.start(listener, backlog: configuration.backlog)
            let thread = try NativeThread { [self] in acceptConnections() }
            threads.withLock { $0.accepting = thread }
        } catch {
            SystemCall.release(listener)
            throw error
        }
    }

    /// Closes everything and returns when all of its threads have ended.
    func stop(resettingConnections: Bool) {
        threads.withLock { $0.resetsOnStop = resettingConnections }
        wakeUp.fire()
        threads.withLock { $0.accepting.take() }?.join()
        // Only the accepting thread adds to these, and it has ended.
        let serving = threads.withLock { threads in
            defer { threads.serving = [:] }
            return Array(threads.serving.values)
        }
        for thread in serving { thread.join() }
    }

    private func acceptConnections() {
        var events = [
            pollfd(wakeUp.descriptor, for: Int32(POLLIN)), pollfd(listener, for: Int32(POLLIN)),
        ]
        while !wakeUp.isFired {
            switch PlatformSocket.takeConnection(listener) {
            case .count(let descriptor):
                start(Int32(descriptor))
                joinFinished()
            case .wouldBlock:
                SystemCall.awaitEvents(&events, milliseconds: -1)
            case .failed:
                // Out of descriptors, for example: the client stays in the queue until there is
                // one.
                var stop = [events[0]]
                SystemCall.awaitEvents(&stop, milliseconds: 10)
            }
        }
        SystemCall.release(listener)
    }

    private func start(_ descriptor: Int32) {
        let number = recorder.addConnection()
        do {
            let thread = try NativeThread { [self] in serve(descriptor, number: number) }
            threads.withLock { $0.serving[number] = thread }
        } catch {
            SystemCall.release(descriptor)
            ConnectionLog(number: number, recorder: recorder).serverEnded()
        }
    }

    private func serve(_ descriptor: Int32, number: Int) {
        ListeningSocket.sendWithoutDelay(descriptor)
        let log = ConnectionLog(number: number, recorder: recorder)
        let socket = SocketStream(descriptor: descriptor, stop: wakeUp, log: log)
        let stream = cipher?(socket) ?? socket
        let worker = ConnectionWorker(
            stream: stream, log: log, recorder: recorder,
            bodyLimit: configuration.recordedBodyLimit)
        let outcome = worker.run(script.withLock { $0 }) {
            threads.withLock { $0.resetsOnStop }
        }
        // With unread bytes, closing would make the system reset the connection.
        if outcome == .close { stream.dropArrived() }
        stream.close(resetting: outcome == .reset)
        threads.withLock { $0.finished.append(number) }
    }

    private func joinFinished() {
        let finished = threads.withLock { threads in
            defer { threads.finished = [] }
            return threads.finished.compactMap { threads.serving.removeValue(forKey: $0) }
        }
        for thread in finished { thread.join() }
    }
}
