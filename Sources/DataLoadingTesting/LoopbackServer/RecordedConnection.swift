// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A connection as the server saw it.
public struct RecordedConnection: Sendable {
    /// The way in which one side ended a connection.
    public enum Ending: Hashable, Sendable {
        /// Orderly, by FIN.
        case closed
        /// By RST.
        case reset
    }

    /// The number, counted from 0 in the order of acceptance.
    public let number: Int
    /// The time of acceptance since the start of the server.
    public let accepted: Duration
    /// The number of heads that were read.
    public internal(set) var requestCount = 0
    /// The number of bytes read, without those dropped at a close.
    public internal(set) var bytesReceived: Int64 = 0
    /// The number of bytes that the system accepted for sending.
    public internal(set) var bytesSent: Int64 = 0
    /// The time at which the server saw the client's end of sending; nil until then.
    ///
    /// The server sees it at once while a script waits, pauses, stalls or reads.
    public internal(set) var clientEnded: Duration?
    /// The way in which the client ended it; nil until then.
    public internal(set) var clientEnding: Ending?
    /// The time at which the server ended it; nil until then.
    public internal(set) var serverEnded: Duration?
    /// The bytes that were read instead of a valid head.
    public internal(set) var malformedHead: Data?

    /// Whether neither side has ended it.
    public var isOpen: Bool { clientEnded == nil && serverEnded == nil }
}
