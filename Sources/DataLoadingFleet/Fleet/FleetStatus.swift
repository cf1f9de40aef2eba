// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// How the connection of a fleet is.
public struct FleetStatus: Sendable {
    /// A state of the connection.
    public enum Connection: Hashable, Sendable {
        /// Nothing has been asked yet.
        case none
        /// It is being made, or will be after a pause.
        case connecting
        /// The server answers.
        case ready
    }

    /// The state of the connection.
    public let connection: Connection
    /// The server that is used, or tried next; nil without one.
    public let endpoint: RedisEndpoint?
    /// The number of daemons that this one has learned of within 30 s, itself included.
    public let members: Int
    /// The time since the server's last answer; nil before the first.
    public let lastAnswer: Duration?
    /// Why the last connection ended, without secrets; nil if none has.
    public let lastFailure: String?

    init(_ status: RedisStatus, members: Int, at now: Instant) {
        connection =
            switch status.connection {
            case .none: .none
            case .connecting: .connecting
            case .ready: .ready
            }
        endpoint = status.endpoint
        self.members = members
        lastAnswer = status.lastAnswer.map { max(.zero, now - $0) }
        lastFailure = status.lastFailure.map { "\($0)" }
    }
}
