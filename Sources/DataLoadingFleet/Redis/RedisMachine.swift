// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The state of a client: its connection, the commands that are sent, and those that wait.
///
/// It does no input or output and knows no clock. Commands come in by `submit`, and the thread asks
/// by `job` what there is to do. Each command ends by exactly one `Ending`, which the caller delivers
/// after it has released its lock.
struct RedisMachine {
    typealias ID = Int

    /// How many commands may be sent and not answered.
    ///
    /// A server that answers after 20 ms is then asked 6,400 times a second, which is more than a
    /// daemon of 2,000 hosts needs; with 16, four hundred hosts were too many.
    static let maxOutstanding = 128
    /// How long a lost connection is made anew although no command uses it.
    static let useLimit = Duration.seconds(30)

    private(set) var state = State.idle
    private(set) var sent: [Sent] = []
    private(set) var waiting = FIFO<Waiting>()
    /// The bytes that are to be sent.
    private(set) var outgoing: [UInt8] = []
    /// The endpoint that is used or is the next to be tried.
    private(set) var endpoint = 0
    /// Why the last connection ended.
    private(set) var lastFailure: RedisFailure?
    private(set) var lastAnswer: Instant?
    /// The number of connections that were made.
    private(set) var connections: UInt64 = 0
    private var lastUse: Instant?
    /// The endpoints that have failed since one was of use.
    private var failures = 0
    private var pause = ReconnectPause()
    private let endpointCount: Int
    private let maxWaiting: Int
    private let patience: Duration
    private let randomness: RandomSource

    init(
        endpointCount: Int, maxWaiting: Int, patience: Duration, randomness: RandomSource
    ) {
        self.endpointCount = endpointCount
        self.maxWaiting = maxWaiting
        self.patience = patience
        self.randomness = randomness
    }
}

extension RedisMachine {
    /// Takes a command; returns its ending when it cannot be taken.
    mutating func submit(_ command: Waiting, now: Instant) -> Ending? {
        func end(_ error: RedisError) -> Ending { Ending(id: command.id, result: .failure(error)) }
        if state == .shutDown { return end(.shutDown) }
        guard endpointCount > 0 else { return end(.notSent(.noEndpoint)) }
        let size = max(command.bytes.count, command.fallback?.size ?? 0)
        guard size <= RedisCommand.maxSize else { return end(.tooLarge) }
        guard waiting.count < maxWaiting else { return end(.overloaded) }
        waiting.append(command)
        lastUse = now
        if state == .idle { state = .connecting }
        fill(at: now)
        return nil
    }

    /// Forgets a command whose caller has gone; returns whether it was there.
    mutating func cancel(_ id: ID) -> Bool {
        if takeWaiting(id) { return true }
        guard let (index, command) = sentCommand(id), !command.isAbandoned else { return false }
        sent[index] = .command(command.abandoned)
        return true
    }

    /// Ends a command whose patience is over.
    ///
    /// If the server has sent nothing for as long since it got the command, it is gone, whatever the
    /// connection looks like, and even if no task waits for the reply any more. A command that had to
    /// wait for its connection leaves it the rest of the time.
    mutating func expire(_ id: ID, now: Instant) -> [Ending] {
        if takeWaiting(id) { return [Ending(id: id, result: .failure(.notSent(lastFailure)))] }
        guard let (index, command) = sentCommand(id) else { return [] }
        let ending = command.isAbandoned ? [] : [end(id, .failure(.silent))]
        guard silenceEnd(of: command) <= now else {
            var expired = command.abandoned
            expired.isExpired = true
            sent[index] = .command(expired)
            return ending
        }
        sent.remove(at: index)
        return ending + lose(.silent, now: now)
    }

    /// Whether a command was sent and is not answered, although its caller may have gone.
    func hasSent(_ id: ID) -> Bool { sentCommand(id) != nil }

    private func sentCommand(_ id: ID) -> (index: Int, command: SentCommand)? {
        for (index, sent) in sent.enumerated() {
            if let command = sent.command, command.id == id { return (index, command) }
        }
        return nil
    }

    /// The end of a command that was sent over the present connection.
    private func end(_ id: ID, _ result: Result<RESPValue, RedisError>) -> Ending {
        Ending(id: id, result: result, endpoint: endpoint)
    }

    /// When the server counts as gone, if it sends nothing meanwhile.
    private func silenceEnd(of command: SentCommand) -> Instant {
        max(command.time, lastAnswer ?? command.time) + patience
    }

    /// When a server counts as gone that has not answered a command whose patience has ended; else nil.
    ///
    /// The other commands have patience left, and see to that themselves.
    private var silenceEnd: Instant? {
        sent.lazy.compactMap(\.command).first(where: \.isExpired).map { silenceEnd(of: $0) }
    }

    /// Ends every command; nothing is taken from now on.
    mutating func shutDown() -> [Ending] {
        var endings = takeSent().map { end($0, .failure(.shutDown)) }
        while let next = waiting.popFirst() {
            endings.append(Ending(id: next.id, result: .failure(.shutDown)))
        }
        outgoing = []
        state = .shutDown
        return endings
    }

    /// Takes a command out of the queue; returns whether it was there.
    private mutating func takeWaiting(_ id: ID) -> Bool {
        let others = waiting.filtered { $0.id != id }
        guard others.count < waiting.count else { return false }
        waiting = others
        return true
    }

    /// Sends as many commands as may be outstanding.
    private mutating func fill(at now: Instant) {
        guard state == .ready else { return }
        while sent.count < Self.maxOutstanding, let next = waiting.popFirst() {
            outgoing.append(contentsOf: next.bytes)
            sent.append(
                .command(SentCommand(id: next.id, fallback: next.fallback, time: now)))
        }
    }

    /// Takes the commands that were sent, without those that were abandoned.
    private mutating func takeSent() -> [ID] {
        defer { sent = [] }
        return sent.compactMap(\.command).filter { !$0.isAbandoned }.map(\.id)
    }
}

extension RedisMachine {
    /// Returns what the thread has to do now.
    mutating func job(now: Instant) -> (Job, [Ending]) {
        switch state {
        case .idle: return (.rest, [])
        case .connecting: return (.connect(endpoint), [])
        case .greeting(let limit): return serve(until: limit, now: now)
        case .ready: return serve(until: silenceEnd, now: now)
        case .pausing(let end) where end <= now:
            state = isWanted(now) ? .connecting : .idle
            return job(now: now)
        case .pausing(let end): return (.pause(until: end), [])
        case .shutDown: return (.end, [])
        }
    }

    /// Serves until an instant at which the server counts as gone; nil for no such instant.
    private mutating func serve(until end: Instant?, now: Instant) -> (Job, [Ending]) {
        guard let end, end <= now else { return (.serve(until: end), []) }
        let endings = lose(.silent, now: now)
        let (job, more) = job(now: now)
        return (job, endings + more)
    }

    /// Greets the server that the thread has connected to.
    mutating func connected(user: String?, password: String?, name: String, now: Instant) {
        guard state == .connecting else { return }
        connections &+= 1
        var words = ["HELLO", "3"]
        if let password { words += ["AUTH", user ?? "default", password] }
        words += ["SETNAME", name]
        outgoing = RedisCommand(words: words).encoded
        outgoing += RedisCommand("ROLE").encoded
        sent = [.hello, .role]
        state = .greeting(until: now + patience)
    }

    /// Ends the connection, or the attempt to make one, and chooses what is tried next.
    ///
    /// Each failure leads to the next endpoint of the list. After a whole round there is a pause.
    mutating func lose(_ failure: RedisFailure, now: Instant) -> [Ending] {
        switch state {
        case .idle, .pausing, .shutDown: return []
        case .connecting, .greeting, .ready: break
        }
        lastFailure = failure
        outgoing = []
        let endings = takeSent().map { end($0, .failure(.lost(failure))) }
        endpoint = endpoint + 1 < endpointCount ? endpoint + 1 : 0
        failures += 1
        if failures < endpointCount {
            state = .connecting
        } else {
            failures = 0
            let length = randomness.withGenerator { pause.next(using: &$0) }
            state = .pausing(until: now + length)
        }
        return endings
    }

    /// Whether commands are to be sent over a connection that is ready.
    var hasOutgoing: Bool { state == .ready && !outgoing.isEmpty }

    /// Takes the bytes that are to be sent.
    mutating func takeOutgoing() -> [UInt8] {
        defer { outgoing = [] }
        return outgoing
    }

    /// Whether the thread is to keep the connection that it has.
    var isServing: Bool {
        switch state {
        case .greeting, .ready: true
        case .idle, .connecting, .pausing, .shutDown: false
        }
    }

    /// Takes a reply.
    mutating func receive(_ reply: RESPValue, now: Instant) -> [Ending] {
        guard isServing else { return [] }
        guard !sent.isEmpty else { return lose(.malformed(.unexpectedReply), now: now) }
        switch sent.removeFirst() {
        case .hello:
            if case .error(let error) = reply { return refused(error, now: now) }
            return []
        case .role: return greeted(reply, now: now)
        case .command(let command): return answered(command, reply, now: now)
        }
    }

    private mutating func refused(_ error: RESPError, now: Instant) -> [Ending] {
        lose(error.isElsewhere ? .elsewhere(error) : .refused(error), now: now)
    }

    private mutating func greeted(_ reply: RESPValue, now: Instant) -> [Ending] {
        if case .error(let error) = reply { return refused(error, now: now) }
        let role = reply.elements?.first?.text ?? ""
        guard role == "master" else { return lose(.notMaster(role: role), now: now) }
        state = .ready
        lastAnswer = now
        fill(at: now)
        return []
    }

    private mutating func answered(
        _ command: SentCommand, _ reply: RESPValue, now: Instant
    ) -> [Ending] {
        lastAnswer = now
        let id = command.isAbandoned ? nil : command.id
        guard case .error(let error) = reply else {
            failures = 0
            pause.reset()
            fill(at: now)
            return id.map { [end($0, .success(reply))] } ?? []
        }
        if error.code == "NOSCRIPT", let id, let fallback = command.fallback {
            // It keeps its place among those that are outstanding.
            outgoing.append(contentsOf: fallback.encoded)
            sent.append(.command(SentCommand(id: id, time: now)))
            return []
        }
        let ending = id.map { end($0, .failure(.refused(error))) }
        let others = error.isElsewhere ? lose(.elsewhere(error), now: now) : []
        fill(at: now)
        return (ending.map { [$0] } ?? []) + others
    }

    /// Whether a connection is needed: commands wait, or came a short time ago.
    private func isWanted(_ now: Instant) -> Bool {
        !waiting.isEmpty || lastUse.map { now - $0 < Self.useLimit } ?? false
    }
}

extension RedisMachine.SentCommand {
    fileprivate var abandoned: Self {
        var copy = self
        copy.fallback = nil
        copy.isAbandoned = true
        return copy
    }
}
