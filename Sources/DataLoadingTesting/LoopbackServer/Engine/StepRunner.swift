// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoading

/// Runs the steps of one script, or of one answer to a request.
final class StepRunner {
    /// The state of the connection after the steps.
    enum Outcome {
        case open, close, reset
    }

    private let output: GatheredOutput
    private let stream: any ByteStream
    private let head: RequestHead?
    private let body: RequestBodyReader?
    private let timekeeper = SystemTimekeeper()
    private var allowsContent: Bool
    private var outcome: Outcome?
    private var closesAfterwards = false

    init(_ stream: any ByteStream, head: RequestHead? = nil, body: RequestBodyReader? = nil) {
        self.stream = stream
        self.head = head
        self.body = body
        output = GatheredOutput(stream)
        allowsContent = head?.method != .head
    }

    /// Runs the steps, up to the first that ends the connection.
    func run(_ steps: [LoopbackStep]) throws -> Outcome {
        for step in steps {
            if try !write(step.action) {
                try output.flush()
                try perform(step.action)
            }
            if let outcome { return outcome }
        }
        try output.flush()
        guard let head, head.keepsAlive, !closesAfterwards else {
            if body?.isFinished == false { try close(afterBodyOf: stream) }
            return .close
        }
        // The rest of the body precedes the next request.
        try body?.read()
        return .open
    }

    /// Lets a client that still uploads read the answer; an immediate close would be a reset.
    private func close(afterBodyOf stream: any ByteStream) throws {
        stream.finishWriting()
        try stream.drain()
    }

    /// Runs a step that sends bytes; false for any other step.
    private func write(_ action: LoopbackStep.Action) throws -> Bool {
        switch action {
        case .head(let status, let reason, let headers):
            let response = ResponseHead(status: status, reason: reason, headers: headers)
            if response.closesConnection { closesAfterwards = true }
            allowsContent = head?.method != .head && ResponseHead.mayHaveBody(status: status)
            try output.write(response.bytes)
        case .content(let payload):
            if allowsContent { try output.write(payload) }
        case .bytes(let payload):
            try output.write(payload)
        case .chunks(let payload, let size):
            if allowsContent { try output.write(payload, inChunksOf: size) }
        case .lastChunk(let trailers):
            if allowsContent { try output.write(Array("0\r\n\(trailers.lines)\r\n".utf8)) }
        default:
            return false
        }
        return true
    }

    /// Runs a step that waits, reads or ends.
    private func perform(_ action: LoopbackStep.Action) throws {
        switch action {
        case .drip(let payload, let size, let interval):
            try payload.forEachSlice(atMost: size) { piece in
                try stream.wait(until: timekeeper.now + interval, or: nil)
                try stream.write(piece)
            }
        case .pause(let duration):
            try stream.wait(until: timekeeper.now + duration, or: nil)
        case .wait(let gate):
            try gate.withDescriptor { try stream.wait(until: .distantFuture, or: $0) }
        case .awaitConfirmation:
            while stream.unconfirmedBytes > 0 {
                try stream.wait(until: timekeeper.now + .milliseconds(1), or: nil)
            }
        case .open(let gate):
            gate.open()
        case .readBody(let limit):
            try body?.read(atMost: limit)
        case .drain:
            try stream.drain()
            outcome = .close
        case .stall:
            try stream.waitForClient()
        case .halfClose:
            stream.finishWriting()
        case .close:
            outcome = .close
        case .reset:
            outcome = .reset
        case .flush, .head, .content, .bytes, .chunks, .lastChunk:
            break
        }
    }
}
