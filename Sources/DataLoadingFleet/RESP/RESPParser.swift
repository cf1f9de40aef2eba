// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Parses replies from bytes that come in any pieces.
///
/// Each byte is looked at once, whatever the pieces are. After it has thrown, the parser must not be
/// used again: what follows cannot be told apart from a reply.
struct RESPParser {
    /// The largest reply, in bytes with all its markers.
    static let maxReplySize = 65_536
    /// How many arrays and maps may be in one another; the greeting of a server with modules has
    /// four.
    static let maxDepth = 4

    /// An array or a map whose elements are not complete.
    private struct Aggregate {
        enum Kind {
            case array, map, push
        }

        let kind: Kind
        let count: Int
        var elements: [RESPValue] = []

        var value: RESPValue {
            guard kind == .map else { return .array(elements) }
            let pairs = stride(from: 0, to: elements.count - elements.count % 2, by: 2)
            return .map(pairs.map { .init(key: elements[$0], value: elements[$0 + 1]) })
        }
    }

    /// A string whose bytes are not complete.
    private struct PendingString {
        let type: UInt8
        let count: Int
    }

    private var bytes: [UInt8] = []
    /// The bytes before this index were read.
    private var position = 0
    /// The bytes before this index have no CR.
    private var searched = 0
    /// The bytes of the reply that were read.
    private var replySize = 0
    private var open: [Aggregate] = []
    private var string: PendingString?

    /// The bytes that wait for more of their reply.
    var pendingBytes: Int { bytes.count - position }

    /// Whether a reply has begun and not ended.
    var isWithinReply: Bool { pendingBytes > 0 || replySize > 0 }

    /// Appends bytes as they came.
    mutating func add(_ piece: some Sequence<UInt8>) {
        if position > Self.maxReplySize || position == bytes.count {
            bytes.removeFirst(position)
            searched -= position
            position = 0
        }
        bytes.append(contentsOf: piece)
    }

    /// Returns the next reply that is no push; nil until it is complete.
    mutating func next() throws(RESPFault) -> RESPValue? {
        while let value = try nextValue() {
            guard let reply = close(with: value) else { continue }
            replySize = 0
            switch reply {
            case .reply(let value): return value
            case .push: continue
            }
        }
        return nil
    }

    private enum Whole {
        case reply(RESPValue)
        case push
    }

    /// Adds a value to the innermost aggregate, and ends those that are complete; returns what is
    /// complete by itself.
    private mutating func close(with value: RESPValue) -> Whole? {
        var value = value
        while var innermost = open.popLast() {
            innermost.elements.append(value)
            guard innermost.elements.count >= innermost.count else {
                open.append(innermost)
                return nil
            }
            if innermost.kind == .push { return .push }
            value = innermost.value
        }
        return .reply(value)
    }

    /// Returns the next value that is no aggregate with elements; nil when bytes are missing.
    private mutating func nextValue() throws(RESPFault) -> RESPValue? {
        while true {
            if let string { return try takeString(string) }
            guard let line = try takeLine() else { return nil }
            guard let type = line.first else { throw .line }
            let rest = line.dropFirst()
            if let value = try RESPLine.value(type, rest) { return value }
            switch type {
            case UInt8(ascii: "$"), UInt8(ascii: "!"), UInt8(ascii: "="):
                guard let count = try length(rest, of: type) else { return .null }
                string = PendingString(type: type, count: count)
            case UInt8(ascii: "*"), UInt8(ascii: "~"):
                guard let count = try length(rest, of: type) else { return .null }
                if let empty = try begin(.array, count) { return empty }
            case UInt8(ascii: "%"):
                guard let count = try length(rest, of: type) else { throw .length }
                if let empty = try begin(.map, count * 2) { return empty }
            case UInt8(ascii: ">"):
                guard open.isEmpty else { throw .unsupportedType(type) }
                guard let count = try length(rest, of: type), count > 0 else { throw .length }
                _ = try begin(.push, count)
            default: throw .unsupportedType(type)
            }
        }
    }

    /// Begins an aggregate; returns an empty one.
    private mutating func begin(
        _ kind: Aggregate.Kind, _ count: Int
    ) throws(RESPFault) -> RESPValue? {
        guard open.count < Self.maxDepth else { throw .tooDeep }
        let aggregate = Aggregate(kind: kind, count: count)
        if count == 0 { return aggregate.value }
        open.append(aggregate)
        return nil
    }

    /// Returns a length that the rest of the reply has room for; nil for that of a null.
    private func length(
        _ digits: ArraySlice<UInt8>, of type: UInt8
    ) throws(RESPFault) -> Int? {
        if digits.elementsEqual("-1".utf8),
            type == UInt8(ascii: "$") || type == UInt8(ascii: "*")
        {
            return nil
        }
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { throw .length }
        guard let count = RESPLine.number(digits), count <= Self.maxReplySize - replySize else {
            throw .tooLarge
        }
        return Int(count)
    }

    /// Takes a line without its end; nil until it is complete.
    private mutating func takeLine() throws(RESPFault) -> ArraySlice<UInt8>? {
        guard let end = bytes[searched...].firstIndex(where: { $0 < 0x20 && $0 != 0x09 }) else {
            searched = bytes.count
            guard pendingBytes <= Self.maxReplySize - replySize else { throw .tooLarge }
            return nil
        }
        searched = end
        guard bytes[end] == 0x0D else { throw .line }
        guard end + 1 < bytes.count else { return nil }
        guard bytes[end + 1] == 0x0A else { throw .line }
        let line = bytes[position..<end]
        try read(upTo: end + 2)
        return line
    }

    /// Takes a string and its end; nil until it is complete.
    private mutating func takeString(_ string: PendingString) throws(RESPFault) -> RESPValue? {
        guard pendingBytes >= string.count + 2 else { return nil }
        let end = position + string.count
        guard bytes[end] == 0x0D, bytes[end + 1] == 0x0A else { throw .line }
        let content = bytes[position..<end]
        try read(upTo: end + 2)
        self.string = nil
        switch string.type {
        case UInt8(ascii: "!"):
            return .error(RESPError(text: String(decoding: content, as: UTF8.self)))
        case UInt8(ascii: "="):
            // Three letters of a format, and a colon.
            guard content.count >= 4, content[content.startIndex + 3] == UInt8(ascii: ":") else {
                throw .malformed
            }
            return .bulk(Array(content.dropFirst(4)))
        default: return .bulk(Array(content))
        }
    }

    private mutating func read(upTo end: Int) throws(RESPFault) {
        replySize += end - position
        position = end
        searched = end
        guard replySize <= Self.maxReplySize else { throw .tooLarge }
    }
}
