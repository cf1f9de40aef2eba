// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoading

/// Reads a request's body, all at once or in parts, into its record.
final class RequestBodyReader {
    private enum State {
        case bytes(left: Int64)
        case chunkSize
        case chunk(left: Int64)
        case finished
    }

    private let reader: BufferedReader
    private let log: RequestLog
    private var state: State

    init(_ framing: RequestHead.Framing, reader: BufferedReader, log: RequestLog) {
        self.reader = reader
        self.log = log
        switch framing {
        case .none, .length(0): state = .finished
        case .length(let length): state = .bytes(left: length)
        case .chunked: state = .chunkSize
        }
        if case .finished = state { log.settle(isComplete: true) }
    }

    var isFinished: Bool {
        if case .finished = state { true } else { false }
    }

    /// Reads body bytes until there are no more, or `limit` of them were read.
    func read(atMost limit: Int64 = .max) throws {
        var limit = limit
        while limit > 0 {
            switch state {
            case .finished:
                return
            case .bytes(let left):
                let count = try take(min(left, limit))
                limit -= count
                state = .bytes(left: left - count)
                if left == count { finish([:]) }
            case .chunkSize:
                try readChunkSize()
            case .chunk(let left):
                let count = try take(min(left, limit))
                limit -= count
                state = .chunk(left: left - count)
                if left == count { try readChunkEnd() }
            }
        }
    }

    private func take(_ limit: Int64) throws -> Int64 {
        let count = try reader.bytes(atMost: limit) { log.receivedBody($0) }
        guard count > 0 else { throw Interruption.clientGone }
        return count
    }

    private func readChunkSize() throws {
        let line = try line()
        let digits = line.prefix { $0 != UInt8(ascii: ";") }
        guard digits.allSatisfy(\.isHexDigit),
            let size = Int64(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw Interruption.malformed }
        if size == 0 { try readTrailers() } else { state = .chunk(left: size) }
    }

    private func readChunkEnd() throws {
        guard try line().isEmpty else { throw Interruption.malformed }
        state = .chunkSize
    }

    private func readTrailers() throws {
        var lines: [ArraySlice<UInt8>] = []
        while case let line = try line(), !line.isEmpty { lines.append(line) }
        guard let trailers = RequestHead.fields(lines) else { throw Interruption.malformed }
        finish(trailers)
    }

    private func line() throws -> ArraySlice<UInt8> {
        guard let line = try reader.line(atMost: 65_536) else { throw Interruption.clientGone }
        guard line.last == UInt8(ascii: "\n") else { throw Interruption.malformed }
        return line[...].withoutLineEnd
    }

    private func finish(_ trailers: HTTPHeaders) {
        state = .finished
        log.settle(isComplete: true, trailers: trailers)
    }
}

extension UInt8 {
    fileprivate var isHexDigit: Bool {
        isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(asciiLowercased)
    }
}
