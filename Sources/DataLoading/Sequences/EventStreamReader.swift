// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// Reads the events of one stream, over one connection after another.
struct EventStreamReader: Sendable {
    private enum Stage: Sendable {
        /// There is no connection; before the first one there is no pause.
        case unconnected(pauses: Bool)
        case connected(SuccessfulBody)
        case over
    }

    private let request: EventRequest
    private let core: LoaderCore
    private let maxEventSize: Int
    /// The error of a timer that is malformed.
    private let fault: DataLoaderError?
    /// Nil when the stream ends with its first connection.
    private var reconnection: Reconnection?
    private var parser: EventParser
    private var stage = Stage.unconnected(pauses: false)
    /// The end of all connections and pauses.
    private var deadline: Instant?

    init(
        of request: DataLoaderRequest, core: LoaderCore, reconnect: ExponentialTimer?,
        maxEventSize: Int
    ) {
        self.request = EventRequest(request, idleTimeout: core.idleTimeout)
        self.core = core
        self.maxEventSize = maxEventSize
        fault = reconnect?.fault
        reconnection = self.request.mayBeSentAgain ? reconnect.map { Reconnection($0) } : nil
        parser = EventParser(maxSize: maxEventSize, lastEventID: self.request.firstEventID)
    }

    /// Returns the next event; nil after the end.
    mutating func next(isolation actor: isolated (any Actor)?) async throws -> ServerSentEvent? {
        while true {
            do {
                switch stage {
                case .over: return nil
                case .unconnected(let pauses):
                    if pauses { try await pause() }
                    try await connect(isolation: actor)
                case .connected(var body):
                    if let event = try parser.next() { return event }
                    take(try await body.next(isolation: actor))
                }
            } catch {
                try lost(error)
            }
        }
    }

    private mutating func connect(isolation actor: isolated (any Actor)?) async throws {
        if let fault { throw fault.ending(request.first) }
        if deadline == nil { deadline = request.first.timeout.map { core.now + $0 } }
        let connection = request.next(
            after: parser.lastEventID, timeout: deadline.map { $0 - core.now })
        var body = SuccessfulBody(of: connection, core: core)
        let head = try await body.head()
        guard head.statusCode != .noContent else {
            // A load that is read to its end counts as a success.
            while try await body.next(isolation: actor) != nil {}
            stage = .over
            return
        }
        guard head.isEventStream else {
            throw StreamError.notAnEventStream(contentType: head.headers["Content-Type"])
        }
        stage = .connected(body)
    }

    private mutating func pause() async throws {
        if let time = parser.reconnectionTime { reconnection?.serverSet(time) }
        var pause = reconnection?.next(using: core.random) ?? .zero
        if let deadline { pause = min(pause, deadline - core.now) }
        do throws(DataLoaderError) {
            try await core.pause(for: pause)
            if let deadline, core.now >= deadline, let timeout = request.first.timeout {
                throw .timedOut(after: timeout, mayHaveBeenProcessed: true)
            }
        } catch {
            throw error.ending(request.first)
        }
    }

    /// Gives the parser a piece, or notes the end of the connection.
    private mutating func take(_ piece: Data?) {
        guard let piece else {
            parser.reset()
            stage = reconnection == nil ? .over : .unconnected(pauses: true)
            return
        }
        reconnection?.reset()
        parser.add(piece)
    }

    /// Releases the connection; throws the error unless another connection may succeed.
    private mutating func lost(_ error: any Error) throws {
        parser.reset()
        stage = .over
        if error is EventParser.TooLong { throw StreamError.eventTooLong(limit: maxEventSize) }
        guard reconnection != nil, let error = error as? DataLoaderError,
            error.isWorthReconnecting
        else { throw inAll(error) }
        stage = .unconnected(pauses: true)
    }

    /// The error with the limit of all connections in place of what was left for the last one.
    private func inAll(_ error: any Error) -> any Error {
        guard let error = error as? DataLoaderError, case .timedOut = error.kind,
            let timeout = request.first.timeout
        else { return error }
        return DataLoaderError(
            .timedOut(after: timeout, mayHaveBeenProcessed: error.mayHaveBeenProcessed),
            factsOf: error)
    }
}

extension DataLoaderResponse {
    /// Whether the content type is that of an event stream, whatever its parameters.
    fileprivate var isEventStream: Bool {
        let type = headers["Content-Type"]?.prefix { $0 != ";" } ?? ""
        return type.trimmingCharacters(in: .whitespaces)
            .equalsIgnoringASCIICase("text/event-stream")
    }
}
