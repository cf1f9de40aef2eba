// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Reads lines and counted bytes from a stream.
final class BufferedReader {
    private let stream: any ByteStream
    private var buffer = [UInt8](repeating: 0, count: 16_384)
    private var held = 0..<0

    init(_ stream: any ByteStream) {
        self.stream = stream
    }

    /// Reads up to and including the next line feed.
    ///
    /// A line without a line feed was cut off by the end of the stream or by the limit. Nil means
    /// the end of the stream.
    func line(atMost limit: Int) throws -> [UInt8]? {
        var line: [UInt8] = []
        while line.count < limit {
            if held.isEmpty, try !fill() { return line.isEmpty ? nil : line }
            let end = buffer[held].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 }
            let taken = held.lowerBound..<(end ?? held.upperBound)
            line += buffer[taken]
            held = taken.upperBound..<held.upperBound
            if end != nil { break }
        }
        return line
    }

    /// Reads at least one byte and passes the bytes to `body`; 0 means the end of the stream.
    func bytes(atMost limit: Int64, _ body: (UnsafeRawBufferPointer) -> Void) throws -> Int64 {
        if held.isEmpty, try !fill() { return 0 }
        let count = Int(min(Int64(held.count), limit))
        let taken = held.lowerBound..<(held.lowerBound + count)
        buffer.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[taken])) }
        held = taken.upperBound..<held.upperBound
        return Int64(count)
    }

    private func fill() throws -> Bool {
        let count = try buffer.withUnsafeMutableBytes { try stream.read(into: $0) }
        held = 0..<count
        return count > 0
    }
}
