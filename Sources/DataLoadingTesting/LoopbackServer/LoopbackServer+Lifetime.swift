// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

extension LoopbackServer {
    /// Closes everything and returns when no thread and no descriptor of the server is left.
    ///
    /// Waits, pauses and stalls of scripts end at once; a closure that blocks is waited for.
    /// Connections are closed in order or, if asked, reset. Records stay; tasks that wait for more
    /// of them return. Stopping again does nothing. An answer must not stop its own server: its
    /// thread would be left.
    public func stop(resettingConnections: Bool = false) {
        end(in: .stopped, resettingConnections: resettingConnections)
        reservation.release()
        recorder.finish()
    }

    /// Closes every connection and refuses new ones, as a server that is being restarted does.
    ///
    /// Returns when that is done. The port stays the server's; records and counts go on.
    public func goDown(resettingConnections: Bool = false) {
        end(in: .down, resettingConnections: resettingConnections)
    }

    /// Listens again after `goDown()`; does nothing when it listens, or was stopped.
    ///
    /// Throws when the system will not listen, on the port as it was.
    public func comeUp() throws {
        try state.withLock { state in
            guard case .down = state else { return }
            let acceptor = try Acceptor(
                listener: try reservation.makeListener(configuration), recorder: recorder,
                configuration: configuration, script: script, cipher: cipher)
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
