// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// Serves one connection, on a thread of its own, from its first byte to its close.
struct ConnectionWorker {
    let stream: any ByteStream
    let log: ConnectionLog
    let recorder: Recorder
    let bodyLimit: Int

    /// Runs the script and returns how to close the connection.
    func run(_ script: LoopbackScript, resetsOnStop: () -> Bool) -> StepRunner.Outcome {
        do {
            return try perform(script)
        } catch Interruption.stopped {
            return resetsOnStop() ? .reset : .close
        } catch Interruption.malformed {
            let answer = ResponseHead(
                status: 400, reason: nil, headers: ["Content-Length": "0", "Connection": "close"])
            try? answer.bytes.withUnsafeBytes(stream.write)
            return .close
        } catch {
            return .close
        }
    }

    private func perform(_ script: LoopbackScript) throws -> StepRunner.Outcome {
        switch script.plan {
        case .steps(let steps): try StepRunner(stream).run(steps)
        case .serve(let handler): try serve(handler)
        case .choose(let choose): try perform(choose(log.number))
        case .converse(let body): try converse(body)
        }
    }

    private func converse(
        _ body: (any ByteStream) throws -> Void
    ) throws -> StepRunner.Outcome {
        try body(stream)
        return .close
    }

    private func serve(_ handler: LoopbackHandler) throws -> StepRunner.Outcome {
        let reader = BufferedReader(stream)
        var index = 0
        while let head = try readHead(from: reader) {
            let outcome = try answer(head, index: index, from: reader, handler)
            guard outcome == .open else { return outcome }
            index += 1
        }
        return .close
    }

    /// Reads the next head; nil when the client closed before it.
    private func readHead(from reader: BufferedReader) throws -> RequestHead? {
        var raw: [UInt8] = []
        while let line = try reader.line(atMost: RequestHead.limit - raw.count) {
            raw += line
            if line.last == UInt8(ascii: "\n"), line[...].withoutLineEnd.isEmpty {
                guard let head = RequestHead(raw) else { break }
                return head
            }
            if line.last != UInt8(ascii: "\n") { break }
        }
        if raw.isEmpty { return nil }
        log.foundMalformedHead(raw)
        throw Interruption.malformed
    }

    private func answer(
        _ head: RequestHead, index: Int, from reader: BufferedReader, _ handler: LoopbackHandler
    ) throws -> StepRunner.Outcome {
        let request = RecordedRequest(
            connection: log.number, indexOnConnection: index, method: head.method,
            target: head.target, version: head.version, headers: head.headers,
            rawHead: Data(head.raw), arrival: recorder.now)
        let log = RequestLog(recorder: recorder, request: request, bodyLimit: bodyLimit)
        defer { log.settle(isComplete: false) }
        let body = RequestBodyReader(head.framing, reader: reader, log: log)
        let runner = StepRunner(stream, head: head, body: body)
        if let early = handler.answerHead(request) { return try runner.run(early.steps) }
        if head.expectsContinue {
            try Array("HTTP/1.1 100 Continue\r\n\r\n".utf8).withUnsafeBytes(stream.write)
        }
        try body.read()
        return try runner.run(handler.answer(log.request).steps)
    }
}
