// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension LoopbackStep {
    /// Waits, rounded up to whole milliseconds.
    public static func pause(_ duration: Duration) -> LoopbackStep {
        LoopbackStep(action: .pause(duration))
    }

    /// Waits until the gate is open.
    public static func wait(for gate: LoopbackGate) -> LoopbackStep {
        LoopbackStep(action: .wait(gate))
    }

    /// Opens a gate, which tells the test that the script has reached this step.
    public static func open(_ gate: LoopbackGate) -> LoopbackStep {
        LoopbackStep(action: .open(gate))
    }

    /// Waits until the client's system has acknowledged everything sent so far.
    ///
    /// The client may not have read it, but a later reset cannot take it away.
    package static let confirmed = LoopbackStep(action: .awaitConfirmation)

    /// Reads the request's body, or its next `limit` bytes, in an answer to the head.
    public static func readBody(atMost limit: Int64 = .max) -> LoopbackStep {
        LoopbackStep(action: .readBody(atMost: limit))
    }

    /// Reads and drops everything until the client closes, then closes.
    ///
    /// After `.halfClose` it closes without loss of bytes for a client that still uploads.
    public static let drain = LoopbackStep(action: .drain)

    /// Does nothing until the client closes, then closes.
    public static let stall = LoopbackStep(action: .stall)

    /// Shuts down sending (FIN) and keeps reading; the client may continue to send.
    public static let halfClose = LoopbackStep(action: .halfClose)

    /// Closes the connection (FIN), whatever the headers said.
    ///
    /// Unread bytes that have arrived are dropped first. The system answers bytes that arrive later
    /// with a reset, as for any closed connection.
    public static let close = LoopbackStep(action: .close)

    /// Resets the connection (RST); the client may lose bytes that it has not read.
    public static let reset = LoopbackStep(action: .reset)
}
