// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSockets
import DataLoadingSupport
import Foundation

/// A small HTTP server for a few operators: one thread, which sleeps while no request comes.
final class EndpointServer: Sendable {
    /// A response that was found out on another thread, and the connection that waits for it.
    struct Answer: Sendable {
        let connection: Int
        let response: EndpointResponse
    }

    /// What other threads tell the server's own.
    private struct Mail: Sendable {
        var answers: [Answer] = []
        var isStopped = false
    }

    /// The port; nil for a Unix-domain socket.
    let port: UInt16?
    private let signal: WakeSignal
    private let mail: Locked<Mail>
    private let thread: NativeThread

    /// Listens, and starts the thread.
    init(
        _ endpoint: OperationsEndpoint, _ content: EndpointContent, timekeeper: any Timekeeper
    ) throws {
        let listener = try EndpointListener(endpoint.place)
        let (signal, mail) = (try WakeSignal(), Locked(Mail()))
        let port = listener.port
        let replies = EndpointReplies(endpoint, content, port: port) { answer in
            mail.withLock { $0.answers.append(answer) }
            signal.ring()
        }
        self.port = port
        self.signal = signal
        self.mail = mail
        thread = try NativeThread {
            BlockedSignals.blockAll()
            var loop = EndpointLoop(listener, replies, timekeeper)
            while true {
                loop.wait(for: signal)
                let (answers, isStopped) = mail.withLock { mail in
                    defer { mail.answers = [] }
                    return (mail.answers, mail.isStopped)
                }
                guard !isStopped else { return loop.closeAll() }
                loop.turn(answers)
            }
        }
    }

    deinit {
        stop()
    }

    /// Closes every connection and the socket, and returns when the thread has ended.
    func stop() {
        mail.withLock { $0.isStopped = true }
        signal.ring()
        thread.join()
    }
}
