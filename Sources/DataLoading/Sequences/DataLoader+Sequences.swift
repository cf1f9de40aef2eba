// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Sequences that read a body piece by piece, and throw `.status` when the status is not 200 to 299.
///
/// The error has up to 64 KiB of the body. As with `chunks(for:)`, the load starts when the first
/// element is requested, has no limit in total unless its request sets `timeout`, and is cancelled
/// when the reading task is cancelled, the iterator is dropped or `cancelAllLoads()` is called.
/// Elements of a piece that was read already are still returned then. Dropping the loader does not
/// cancel it.
extension DataLoader {
    /// Loads a request's body line by line.
    ///
    /// - Parameters:
    ///   - request: The request, whose `chunks` is ignored.
    ///   - maxLineLength: The maximum length of a line in bytes, without its end; default 1 MiB. At
    ///     a longer line the iterator throws `StreamError.lineTooLong` and cancels the load.
    /// - Returns: The lines.
    public func lines(
        for request: DataLoaderRequest, maxLineLength: Int = 1_048_576
    ) -> ResponseLines {
        ResponseLines(request: request, core: core, maxLineLength: maxLineLength)
    }

    /// Loads a request's body and decodes each of its lines, as in JSON Lines and NDJSON.
    ///
    /// - Parameters:
    ///   - type: The type of the values.
    ///   - request: The request, whose `chunks` is ignored.
    ///   - decoder: The decoder of a line; by default one without settings.
    ///   - maxLineLength: The maximum length of a line in bytes, without its end; default 1 MiB. At
    ///     a longer line the iterator throws `StreamError.lineTooLong` and cancels the load.
    /// - Returns: The values of the lines.
    public func jsonLines<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, for request: DataLoaderRequest,
        decoder: JSONDecoder = JSONDecoder(), maxLineLength: Int = 1_048_576
    ) -> JSONLines<Value> {
        JSONLines(request: request, core: core, decoder: decoder, maxLineLength: maxLineLength)
    }

    /// Loads a request's body byte by byte.
    public func bytes(for request: DataLoaderRequest) -> ResponseBytes {
        ResponseBytes(request: request, core: core)
    }

    /// Loads a stream of server-sent events, and loads it again when it ends.
    ///
    /// `Accept: text/event-stream` and `Cache-Control: no-store` are added unless the request has
    /// such fields. A `Last-Event-ID` of the request is where the first connection begins; this
    /// field follows a redirect to another origin too. The slot use is `.stream`.
    ///
    /// A connection may be quiet for the request's `idleTimeout`, and then another one follows. With
    /// nil the limit is 5 minutes, or `Timeouts.idle` if that is longer. The request's `timeout`
    /// limits all connections and pauses together; with nil there is no limit.
    ///
    /// The pauses begin again at the first one as soon as a connection brings a byte. `retry:` of
    /// the server, bounded to between 0.1 s and an hour, replaces the initial time of the timer; then
    /// no pause is shorter than it. `Retry-After` delays the load that follows the pause.
    ///
    /// - Parameters:
    ///   - request: The request, whose `chunks` is ignored.
    ///   - reconnect: The pauses between connections, with jitter in the first one too; by default
    ///     around 1 s, 2.7 s … 60 s. With nil the sequence ends with its first connection.
    ///   - maxEventSize: The maximum size of the data of an event, and of each of its lines, in
    ///     bytes; default 1 MiB. At a larger event the iterator throws `StreamError.eventTooLong`.
    /// - Returns: The events.
    public func events(
        for request: DataLoaderRequest,
        reconnect: ExponentialTimer? = ExponentialTimer(
            initialTime: .seconds(1), maxTime: .seconds(60)),
        maxEventSize: Int = 1_048_576
    ) -> ServerSentEvents {
        ServerSentEvents(
            request: request, core: core, reconnect: reconnect, maxEventSize: maxEventSize)
    }
}
