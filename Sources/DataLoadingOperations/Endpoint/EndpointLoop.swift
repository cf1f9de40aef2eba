// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSockets
import DataLoadingSupport
import Foundation

/// What the thread of an endpoint does: waits for sockets, and moves each connection on.
struct EndpointLoop {
    private static let maxConnections = 16
    /// How long a health check may take until the answer is that it does not come.
    private static let answerLimit = Duration.seconds(3)
    /// The size of events from which on the rest comes with the next ones, in bytes.
    private static let maxEvents = 262_144
    /// How long no connection is accepted after the system refused one.
    private static let acceptPause = Duration.milliseconds(100)

    private let listener: EndpointListener
    private var replies: EndpointReplies
    private let timekeeper: any Timekeeper
    private var connections: [Int: EndpointConnection] = [:]
    private var lastNumber = 0
    private var acceptsFrom = Instant(nanoseconds: .min)
    /// Whether a connection has bytes of a further request, for which no event comes.
    private var hasMore = false
    private var ticks = LiveTicks()
    private var buffer = [UInt8](repeating: 0, count: EndpointHead.limit)

    init(_ listener: EndpointListener, _ replies: EndpointReplies, _ timekeeper: any Timekeeper) {
        self.listener = listener
        self.replies = replies
        self.timekeeper = timekeeper
    }

    /// Sleeps until a socket is ready, a time is over, or the signal is rung.
    mutating func wait(for signal: WakeSignal) {
        var events = [pollfd(signal.descriptor, for: Int32(POLLIN))]
        let now = timekeeper.now
        var next = connections.values.map(\.deadline).min() ?? .distantFuture
        if acceptsFrom <= now {
            events.append(pollfd(listener.descriptor, for: Int32(POLLIN)))
        } else {
            next = min(next, acceptsFrom)
        }
        if connections.values.contains(where: \.isReady) { next = min(next, ticks.next) }
        if hasMore { next = now }
        hasMore = false
        let numbers = connections.keys.sorted()
        let first = events.count
        for connection in numbers.compactMap({ connections[$0] }) {
            var wanted: Int32 = 0
            if connection.wantsInput { wanted |= Int32(POLLIN) }
            if connection.hasOutput { wanted |= Int32(POLLOUT) }
            events.append(pollfd(connection.descriptor, for: wanted))
        }
        SystemCall.awaitEvents(&events, milliseconds: Self.milliseconds(until: next, from: now))
        signal.clear()
        for (number, event) in zip(numbers, events[first...])
        where event.has(Int32(POLLERR) | Int32(POLLHUP)) {
            closeUnlessRead(number)
        }
    }

    /// Closes a connection whose peer is gone, if no read or write will find out.
    private mutating func closeUnlessRead(_ number: Int) {
        guard case .waiting = connections[number]?.phase else { return }
        connections[number]?.close()
        connections[number] = nil
    }

    /// Rounded up, so that the time is over when the sleep is.
    private static func milliseconds(until next: Instant, from now: Instant) -> Int32 {
        guard next != .distantFuture else { return -1 }
        return Int32(clamping: max(0, next.nanoseconds(since: now)) / 1_000_000 + 1)
    }

    /// Moves everything on that can be, without waiting.
    mutating func turn(_ answers: [EndpointServer.Answer]) {
        let now = timekeeper.now
        for answer in answers { take(answer, at: now) }
        accept(at: now)
        for number in connections.keys.sorted() { move(number, at: now) }
        feedStreams(at: now)
    }

    mutating func closeAll() {
        for number in connections.keys.sorted() { connections[number]?.close() }
        connections = [:]
    }

    // MARK: Connections

    private mutating func accept(at now: Instant) {
        // Not for as long as clients keep connecting.
        for _ in 0..<Self.maxConnections where now >= acceptsFrom {
            switch PlatformSocket.takeConnection(listener.descriptor) {
            case .count(let descriptor):
                makeRoom()
                guard connections.count < Self.maxConnections else {
                    SystemCall.release(Int32(descriptor))
                    continue
                }
                lastNumber += 1
                connections[lastNumber] = EndpointConnection(Int32(descriptor), at: now)
            case .wouldBlock: return
            // Without a free descriptor the connection stays, and the socket is readable at once.
            case .failed: acceptsFrom = now + Self.acceptPause
            }
        }
    }

    /// Closes the oldest connection that says nothing, or else reads slowly, or else has a stream of
    /// events, which a page asks for again, if there are as many as may be: they must not keep a
    /// supervisor out.
    private mutating func makeRoom() {
        guard connections.count >= Self.maxConnections else { return }
        let idle = connections.filter { $0.value.isIdle }.keys.min()
        let slow = connections.filter { $0.value.isSending }.keys.min()
        let streaming = connections.filter { $0.value.isStreaming }.keys.min()
        guard let oldest = idle ?? slow ?? streaming else { return }
        connections[oldest]?.close()
        connections[oldest] = nil
    }

    private mutating func move(_ number: Int, at now: Instant) {
        guard var connection = connections[number] else { return }
        // Out of the table while it changes, so that its bytes are not copied.
        connections[number] = nil
        receive(&connection, at: now)
        answer(&connection, number, at: now)
        expire(&connection, at: now)
        if connection.phase != .over { connections[number] = connection }
    }

    private mutating func receive(_ connection: inout EndpointConnection, at now: Instant) {
        // In another phase what is received is dropped, and would wake the thread if it stayed.
        guard connection.wantsInput,
            connection.phase != .reading || connection.input.count < EndpointHead.limit
        else { return }
        let outcome = buffer.withUnsafeMutableBytes {
            SystemCall.receive(connection.descriptor, $0)
        }
        switch outcome {
        case .count(0), .failed: connection.close()
        case .count(let count): connection.receive(buffer[..<count], at: now)
        case .wouldBlock: break
        }
    }

    /// Sends what waits, and answers one request: the next one is read when the response is sent,
    /// and when other connections had their turn.
    private mutating func answer(
        _ connection: inout EndpointConnection, _ number: Int, at now: Instant
    ) {
        send(&connection, at: now)
        guard connection.phase == .reading else { return }
        switch connection.takeHead() {
        case .incomplete: return
        case .refused(let status):
            respond(EndpointResponse(status), to: nil, &connection, at: now)
        case .request(let request, _):
            switch replies.reply(to: request, of: number, at: now) {
            case .response(let response): respond(response, to: request, &connection, at: now)
            case .later: connection.wait(for: request, until: now + Self.answerLimit)
            case .events(let feed):
                let head = EndpointResponse(.ok, contentType: EndpointReplies.eventStream, [])
                connection.stream(
                    head.streamHead(at: timekeeper.date) + LiveEvent.retry, at: now)
                ticks.begin(feed, at: now)
            }
        }
        send(&connection, at: now)
        if connection.phase == .reading, !connection.input.isEmpty { hasMore = true }
    }

    private func respond(
        _ response: EndpointResponse, to request: EndpointRequest?,
        _ connection: inout EndpointConnection, closes: Bool = false, at now: Instant
    ) {
        let keepsAlive = !closes && request?.keepsAlive ?? false
        connection.send(
            response.bytes(
                at: timekeeper.date, toHead: request?.isHead ?? false, keepsAlive: keepsAlive),
            keepsAlive: keepsAlive, at: now)
    }

    private func send(_ connection: inout EndpointConnection, at now: Instant) {
        while connection.hasOutput, connection.phase != .over {
            let outcome = connection.withOutput {
                PlatformSocket.sendBytes(connection.descriptor, $0)
            }
            switch outcome {
            case .count(let count): connection.noteSent(count, at: now)
            case .wouldBlock: return
            case .failed: connection.close()
            }
        }
    }

    private func expire(_ connection: inout EndpointConnection, at now: Instant) {
        guard connection.phase != .over, now >= connection.deadline else { return }
        switch connection.phase {
        case .reading where !connection.input.isEmpty:
            respond(EndpointResponse(.requestTimeout), to: nil, &connection, at: now)
            send(&connection, at: now)
        case .waiting(let request):
            let text = "neither the timer nor a task answers"
            // The answer that comes late must not be taken for that of a later request.
            respond(
                EndpointResponse(.unavailable, text: text), to: request, &connection,
                closes: true, at: now)
            send(&connection, at: now)
        case .reading, .sending, .streaming, .lingering, .over: connection.close()
        }
    }

    private mutating func take(_ answer: EndpointServer.Answer, at now: Instant) {
        guard var connection = connections[answer.connection],
            case .waiting(let request) = connection.phase
        else { return }
        respond(answer.response, to: request, &connection, at: now)
        connections[answer.connection] = connection
    }

    // MARK: Events

    private mutating func feedStreams(at now: Instant) {
        // A slow reader gets the latest when it has taken what came before, never a backlog.
        let ready = connections.filter { $0.value.isReady }
        guard !ready.isEmpty, let feed = ticks.take(at: now) else { return }
        let snapshot = LiveEvent.bytes("snapshot", id: nil, feed.snapshot())
        for (number, stream) in ready {
            guard case .streaming(var last) = stream.phase else { continue }
            var events = snapshot
            // A page that connects gets all that the feed has, in a few parts.
            while events.count < Self.maxEvents, let loads = feed.loads(after: last) {
                events += LiveEvent.bytes("loads", id: loads.last, loads.data)
                last = loads.last
            }
            var stream = stream
            stream.add(events, lastLoad: last, at: now)
            send(&stream, at: now)
            connections[number] = stream.phase == .over ? nil : stream
        }
    }
}

extension EndpointConnection {
    /// Whether it may get the next event.
    fileprivate var isReady: Bool {
        if case .streaming = phase { !hasOutput } else { false }
    }
}
