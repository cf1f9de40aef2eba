// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingSockets

/// One connection to the endpoint: where it is, what it sent and what it has to get.
struct EndpointConnection {
    enum Phase: Equatable {
        /// A request may come.
        case reading
        /// The answer to a request is being found out.
        case waiting(EndpointRequest)
        /// A response is sent.
        case sending(keepsAlive: Bool)
        /// Events are sent until the connection ends.
        case streaming(lastLoad: Int64)
        /// The response is sent, and the peer may still be reading: closing at once could reset.
        case lingering
        case over
    }

    /// How long a peer may take: for a head from its first byte on, for reading a response without
    /// a byte taken, and for saying nothing.
    private static let headLimit = Duration.seconds(5)
    private static let stallLimit = Duration.seconds(10)
    private static let idleLimit = Duration.seconds(75)
    private static let lingerLimit = Duration.seconds(1)

    let descriptor: Int32
    private(set) var phase = Phase.reading
    private(set) var input: [UInt8] = []
    private var output: [UInt8] = []
    private var sent = 0
    /// When the phase has lasted too long.
    private(set) var deadline: Instant

    init(_ descriptor: Int32, at now: Instant) {
        self.descriptor = descriptor
        deadline = now + Self.headLimit
    }

    /// Whether it may be closed for another one: it has asked nothing that is not answered.
    var isIdle: Bool { phase == .reading || phase == .lingering }

    /// Whether a response that has an end is on its way.
    var isSending: Bool {
        if case .sending = phase { true } else { false }
    }

    var isStreaming: Bool {
        if case .streaming = phase { true } else { false }
    }

    var hasOutput: Bool { sent < output.count }

    /// Whether bytes of the peer are of interest; while a response is sent they wait in the socket.
    var wantsInput: Bool {
        switch phase {
        case .reading, .streaming, .lingering: true
        case .waiting, .sending, .over: false
        }
    }

    mutating func close() {
        guard phase != .over else { return }
        phase = .over
        SystemCall.release(descriptor)
    }

    /// Takes what the peer has sent.
    mutating func receive(_ bytes: some Collection<UInt8>, at now: Instant) {
        guard phase == .reading else { return }
        if input.isEmpty { deadline = now + Self.headLimit }
        input.append(contentsOf: bytes)
    }

    /// Takes a whole head from the input.
    mutating func takeHead() -> EndpointHead {
        let head = EndpointHead.read(input)
        if case .request(_, let length) = head { input.removeFirst(length) }
        return head
    }

    mutating func wait(for request: EndpointRequest, until deadline: Instant) {
        phase = .waiting(request)
        self.deadline = deadline
    }

    mutating func send(_ bytes: [UInt8], keepsAlive: Bool, at now: Instant) {
        begin(bytes, at: now)
        phase = .sending(keepsAlive: keepsAlive)
    }

    mutating func stream(_ head: [UInt8], at now: Instant) {
        begin(head, at: now)
        phase = .streaming(lastLoad: 0)
    }

    /// Adds an event to a stream, whose reader has taken all that came before.
    mutating func add(_ event: [UInt8], lastLoad: Int64, at now: Instant) {
        begin(event, at: now)
        phase = .streaming(lastLoad: lastLoad)
    }

    private mutating func begin(_ bytes: [UInt8], at now: Instant) {
        output = bytes
        sent = 0
        deadline = now + Self.stallLimit
    }

    /// The bytes that are not sent yet.
    func withOutput<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        output.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
    }

    /// Notes that the peer has taken bytes, and continues after the last one.
    mutating func noteSent(_ count: Int, at now: Instant) {
        sent += min(count, output.count - sent)
        deadline = now + Self.stallLimit
        guard !hasOutput else { return }
        output = []
        sent = 0
        switch phase {
        case .sending(keepsAlive: true):
            phase = .reading
            deadline = now + (input.isEmpty ? Self.idleLimit : Self.headLimit)
        case .sending(keepsAlive: false):
            phase = .lingering
            deadline = now + Self.lingerLimit
            ListeningSocket.finishWriting(descriptor)
        case .streaming: deadline = .distantFuture
        case .reading, .waiting, .lingering, .over: break
        }
    }
}
