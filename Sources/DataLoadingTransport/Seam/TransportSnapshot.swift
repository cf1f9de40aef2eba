// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What a transport does at the moment.
public struct TransportSnapshot: Hashable, Sendable {
    /// The number of open connections, idle ones included.
    public let openConnections: Int
    /// The number of open connections for each origin; a transport that does not tell has none.
    package let connections: [Origin: Int]
    /// The number of attempts that run.
    public let runningAttempts: Int
    /// The longest time of about the last minute for which a thread of the transport was busy
    /// without looking for events.
    ///
    /// Meanwhile every transfer on that thread waited. Much more than a millisecond is mostly the
    /// work of a sink, or of a task on the transport's executor.
    public let longestRound: Duration

    /// Makes the snapshot of a transport.
    package init(
        openConnections: Int, connections: [Origin: Int] = [:], runningAttempts: Int,
        longestRound: Duration
    ) {
        self.openConnections = openConnections
        self.connections = connections
        self.runningAttempts = runningAttempts
        self.longestRound = longestRound
    }
}

/// A transport that can say what it does, and whether its threads are free.
package protocol ObservableTransport: Transport {
    /// Returns when each thread of the transport has answered.
    func echo() async
    /// What it does now; any thread may ask.
    func snapshot() -> TransportSnapshot
}
