// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoading

extension LoopbackServer {
    /// Closes everything and returns when all threads and descriptors of the server are released.
    ///
    /// Waits, pauses and stalls of scripts end at once; the call waits for a closure that blocks.
    /// Connections are closed in order or, if asked, reset. Records stay, and tasks that wait for
    /// more of them return. Stopping again has no effect. An answer must not stop its own server:
    /// its thread would then be detached instead of joined.
    public func stop(resettingConnections: Bool = false) {
        end(in: .stopped, resettingConnections: resettingConnections)
        reservation.release()
        recorder.finish()
    }

    /// Closes every connection and refuses new ones, like a server that is being restarted.
    ///
    /// Returns when that is done. The server keeps the port, its records and its counts.
    public func goDown(resettingConnections: Bool = false) {
        end(in: .down, resettingConnections: resettingConnections)
    }

    /// Listens again after `goDown()`; no effect while it listens, or after `stop()`.
    ///
    /// Throws when the system does not allow listening on the same port.
    public func comeUp() throws {
        try state.withLock { state in
            guard case .down = state else { return }
            let acceptor = try LoopbackServerError.rethrowing {
                try Acceptor(
                    listener: try reservation.makeListener(configuration), recorder: recorder,
                    configuration: configuration, script: script, cipher: cipher)
            }
            state = .listening(acceptor)
        }
    }

    private func end(in next: State, resettingConnections: Bool) {
        let last = state.withLock { state in
            if case .stopped = state { return state }
            defer { state = next }
            return state
        }
        guard case .listening(let acceptor) = last else { return }
        acceptor.stop(resettingConnections: resettingConnections)
    }
}
