// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension LoopbackStep {
    /// Waits, to the millisecond, never shorter.
    public static func pause(_ duration: Duration) -> LoopbackStep {
        LoopbackStep(action: .pause(duration))
    }

    /// Waits until the gate is open.
    public static func wait(for gate: LoopbackGate) -> LoopbackStep {
        LoopbackStep(action: .wait(gate))
    }

    /// Opens a gate, to tell the test that the script came here.
    public static func open(_ gate: LoopbackGate) -> LoopbackStep {
        LoopbackStep(action: .open(gate))
    }

    /// Waits until the client's system has confirmed that it has everything sent so far.
    ///
    /// The client itself may not have read it; but no reset that comes later takes it away.
    package static let confirmed = LoopbackStep(action: .awaitConfirmation)

    /// Reads the request's body, or its next `limit` bytes, in an answer to the head alone.
    public static func readBody(atMost limit: Int64 = .max) -> LoopbackStep {
        LoopbackStep(action: .readBody(atMost: limit))
    }

    /// Reads and drops everything until the client closes, then closes.
    ///
    /// After `.halfClose` it gives the close that loses no byte to a client which still uploads.
    public static let drain = LoopbackStep(action: .drain)

    /// Does nothing until the client closes, then closes.
    public static let stall = LoopbackStep(action: .stall)

    /// Says that nothing more will be sent (FIN) and keeps reading; the client may go on sending.
    public static let halfClose = LoopbackStep(action: .halfClose)

    /// Closes the connection (FIN), whatever the headers said.
    ///
    /// What the client sent and nobody read is dropped first, where it has arrived; bytes that
    /// arrive later are answered by the system with a reset, as by any server that went away.
    public static let close = LoopbackStep(action: .close)

    /// Resets the connection (RST); bytes that the client has not taken may be lost to it.
    public static let reset = LoopbackStep(action: .reset)
}
