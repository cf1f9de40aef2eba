// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The server-sent events of a stream as a sequence that connects again when the stream ends.
///
/// ```swift
/// for try await event in loader.events(for: request) {
///     print(event.id, event.event, event.data)
/// }
/// ```
/// The stream is parsed as section 9.2 of the HTML standard says. Each iterator has one connection
/// at a time, which is a load of its own. Between two connections there is a pause of at least 0.1 s,
/// and the next request has the last ID in `Last-Event-ID`.
///
/// | what ends a connection | what follows |
/// | --- | --- |
/// | the end of the body | another connection |
/// | a failure of the network, the idle limit, `.overloaded` | another connection |
/// | status 408, 425, 429, 500, 502, 503 or 504 | another connection |
/// | a credential that could not be fetched for one of these reasons, or in time | another connection |
/// | status 204 | the end of the sequence |
/// | another error, another content type, an event that is too long | the error is thrown |
///
/// There is no other connection for a request that may not be sent twice, such as a POST without
/// an `Idempotency-Key`: the sequence ends with the body or throws the error.
///
/// The iterator throws `.cancelled` when its task, the loader's loads or the service's are
/// cancelled, and `.reset` on a reset, in a pause too. Dropping it cancels the connection. Reading
/// from the server pauses while 256 KiB are unread, as with `DataChunks`.
public struct ServerSentEvents: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent

    let request: DataLoaderRequest
    let core: LoaderCore
    let reconnect: ExponentialTimer?
    let maxEventSize: Int

    /// Makes an iterator, whose first load starts at its first call.
    public func makeAsyncIterator() -> Iterator {
        Iterator(
            reader: EventStreamReader(
                of: request, core: core, reconnect: reconnect, maxEventSize: maxEventSize))
    }

    /// Reads the events of a stream.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        var reader: EventStreamReader

        /// Returns the next event; nil after the end of the stream.
        ///
        /// - Throws: `DataLoaderError` when a connection failed for good;
        ///   `StreamError.notAnEventStream` and `StreamError.eventTooLong`.
        public mutating func next() async throws -> ServerSentEvent? {
            try await next(isolation: #isolation)
        }

        /// Returns the next event without leaving the caller's actor, as `for try await` does.
        ///
        /// - Throws: As `next()` does.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws -> ServerSentEvent? {
            try await reader.next(isolation: actor)
        }
    }
}
