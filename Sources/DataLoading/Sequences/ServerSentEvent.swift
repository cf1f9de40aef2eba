// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// An event of a stream of server-sent events.
public struct ServerSentEvent: Hashable, Sendable {
    /// The last ID that the stream gave, in this event or an earlier one; empty when it gave none.
    public var id: String
    /// The type of the event; `message` when the event gives none.
    public var event: String
    /// The text of the event; lines are separated by LF.
    public var data: String
    /// The reconnection time that the event gives; nil when it gives none.
    public var retry: Duration?

    /// Makes an event.
    public init(
        id: String = "", event: String = "message", data: String, retry: Duration? = nil
    ) {
        self.id = id
        self.event = event
        self.data = data
        self.retry = retry
    }
}
