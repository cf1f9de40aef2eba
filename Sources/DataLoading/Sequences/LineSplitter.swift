// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Splits a body into lines, wherever its pieces cut it.
///
/// It looks for one line at a time, and puts a line together that pieces cut. A byte order mark at
/// the start of the body is dropped.
struct LineSplitter: Sendable {
    /// The bytes that end a line.
    enum Ends: Sendable {
        /// LF, and CR LF. A CR elsewhere is a part of its line.
        case lineFeed
        /// LF, CR LF and CR, as in an event stream.
        case any
    }

    /// The line with this number is longer than the limit.
    struct TooLong: Error {
        let number: Int
    }

    /// The offset of a byte that does not occur in the rest of the piece.
    private static let never = Int.max
    /// The capacity that is kept for cut lines, so that one long line does not stay in memory.
    private static let maxKept = 16_384

    private let ends: Ends
    private let maxLength: Int
    /// A copy, because each access to the bytes of `Data` takes longer than finding a line.
    private var piece: [UInt8] = []
    /// The offset in the piece at which the next line begins.
    private var position = 0
    /// The offset of the next LF; unknown while it is before the position.
    private var lineFeed = -1
    /// The offset of the next CR; unknown while it is before the position.
    private var carriageReturn = -1
    /// The beginning of a line that a piece has cut.
    private var cutLine: [UInt8] = []
    /// Whether an LF at the position belongs to the CR before it.
    private var isAfterReturn = false
    /// The number of lines so far.
    private(set) var count = 0

    /// Makes a splitter of lines with at most `maxLength` bytes, without their ends.
    init(ends: Ends, maxLength: Int) {
        self.ends = ends
        self.maxLength = maxLength
    }

    /// Adds the next piece; called when `next` has returned nil.
    mutating func add(_ piece: Data) {
        self.piece = Array(piece)
        position = 0
        lineFeed = -1
        carriageReturn = ends == .any ? -1 : Self.never
    }

    /// Calls `body` with the next line and returns its result; nil when the piece has no more.
    mutating func next<Line>(_ body: (UnsafeRawBufferPointer) throws -> Line) throws -> Line? {
        if isAfterReturn { skipLineFeed() }
        if lineFeed < position { lineFeed = offset(of: UInt8(ascii: "\n")) }
        if carriageReturn < position { carriageReturn = offset(of: UInt8(ascii: "\r")) }
        let start = position
        let end = min(lineFeed, carriageReturn)
        guard end != Self.never else {
            try keepRest()
            return nil
        }
        position = end + 1
        isAfterReturn = end == carriageReturn
        count += 1
        let (number, limit) = (count, maxLength)
        if cutLine.isEmpty {
            return try piece.withUnsafeBytes { bytes in
                let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
                return try body(Self.content(of: line, number, limit))
            }
        }
        cutLine += piece[start..<end]
        defer { cutLine.removeAll(keepingCapacity: cutLine.capacity <= Self.maxKept) }
        return try cutLine.withUnsafeBytes { try body(Self.content(of: $0, number, limit)) }
    }

    /// Calls `body` with the last line, if the body ended without a line end.
    mutating func finish<Line>(_ body: (UnsafeRawBufferPointer) throws -> Line) throws -> Line? {
        defer { cutLine = [] }
        count += 1
        let (number, limit) = (count, maxLength)
        return try cutLine.withUnsafeBytes { bytes in
            let line = try Self.content(of: bytes, number, limit, dropsReturn: false)
            return line.isEmpty ? nil : try body(line)
        }
    }

    private mutating func skipLineFeed() {
        guard position < piece.count else { return }
        isAfterReturn = false
        if piece[position] == UInt8(ascii: "\n") { position += 1 }
    }

    /// The offset of a byte from the position on.
    private func offset(of byte: UInt8) -> Int {
        let start = position
        return piece.withUnsafeBytes { bytes in
            guard start < bytes.count, let base = bytes.baseAddress,
                let found = memchr(base + start, Int32(byte), bytes.count - start)
            else { return Self.never }
            return UnsafeRawPointer(found) - base
        }
    }

    /// Keeps what follows the last line end, and releases the piece.
    private mutating func keepRest() throws {
        guard position < piece.count else { return }
        cutLine += piece[position...]
        add(Data())
        // A sender without line ends must not fill the memory.
        let (number, limit) = (count + 1, maxLength)
        _ = try cutLine.withUnsafeBytes { try Self.content(of: $0, number, limit) }
    }

    /// The line without the byte order mark before it and the CR after it, within the limit.
    private static func content(
        of line: UnsafeRawBufferPointer, _ number: Int, _ maxLength: Int, dropsReturn: Bool = true
    ) throws -> UnsafeRawBufferPointer {
        var line = line[...]
        if number == 1, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
        if dropsReturn, line.last == UInt8(ascii: "\r") { line = line.dropLast() }
        guard line.count <= maxLength else { throw TooLong(number: number) }
        return UnsafeRawBufferPointer(rebasing: line)
    }
}
