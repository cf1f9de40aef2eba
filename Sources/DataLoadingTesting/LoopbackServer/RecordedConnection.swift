// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A connection as the server saw it.
public struct RecordedConnection: Sendable {
    /// How one side ended a connection.
    public enum Ending: Hashable, Sendable {
        /// In order, by FIN.
        case closed
        /// By RST.
        case reset
    }

    /// The number, counted from 0 in the order of acceptance.
    public let number: Int
    /// When it was accepted, counted from the start of the server.
    public let accepted: Duration
    /// The number of heads that were read.
    public internal(set) var requestCount = 0
    /// The bytes that were read; what is dropped at a close does not count.
    public internal(set) var bytesReceived: Int64 = 0
    /// The bytes that the system took for sending.
    public internal(set) var bytesSent: Int64 = 0
    /// When the server saw that the client will send no more; nil when it has not seen it.
    ///
    /// It is seen at once while a script waits, pauses, stalls or reads.
    public internal(set) var clientEnded: Duration?
    /// How the client ended it.
    public internal(set) var clientEnding: Ending?
    /// When the server ended it.
    public internal(set) var serverEnded: Duration?
    /// What was read in place of a head that is no head.
    public internal(set) var malformedHead: Data?

    /// Whether neither side has ended it.
    public var isOpen: Bool { clientEnded == nil && serverEnded == nil }
}
