// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Lines that wait to be written: a ring of bytes with a maximum.
///
/// It has memory for what waited at most, and gives that back once it is empty.
struct LineRing {
    /// The maximum number of bytes.
    let capacity: Int
    private var bytes: [UInt8] = []
    private var first = 0
    /// The number of bytes that wait.
    private(set) var count = 0

    /// The memory that an empty ring keeps, which is also that of the first line.
    private static let kept = 65_536

    /// Makes an empty ring for so many bytes.
    init(capacity: Int) {
        self.capacity = max(LogLine.maxLength, capacity)
    }

    var isEmpty: Bool { count == 0 }

    /// Adds a line, which ends in a line feed; false when there is no room.
    mutating func append(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        guard line.count <= capacity - count else { return false }
        if line.count > bytes.count - count { grow(for: line.count) }
        let start = (first + count) % bytes.count
        let head = min(line.count, bytes.count - start)
        write(line[..<head], at: start)
        write(line[head...], at: 0)
        count += line.count
        return true
    }

    private mutating func write(_ part: Slice<UnsafeBufferPointer<UInt8>>, at start: Int) {
        bytes.withUnsafeMutableBufferPointer { bytes in
            _ = bytes[start...].update(fromContentsOf: part)
        }
    }

    /// Takes as many whole lines as fit into a length, but one at least.
    mutating func takeLines(atMost length: Int) -> [UInt8] {
        // From the end, where the line feed is near: the caller holds a lock.
        let limit = min(max(0, length), count)
        let end = (0..<limit).last(where: isLineFeed) ?? (limit..<count).first(where: isLineFeed)
        let taken = end.map { $0 + 1 } ?? 0
        let lines = prefix(taken)
        count -= taken
        first = count == 0 ? 0 : (first + taken) % bytes.count
        if count == 0, bytes.count > Self.kept { bytes = [] }
        return lines
    }

    /// Takes everything; returns the number of lines.
    mutating func removeAll() -> Int {
        let lines = prefix(count).lineCount
        (bytes, first, count) = ([], 0, 0)
        return lines
    }

    private func isLineFeed(_ offset: Int) -> Bool {
        bytes[(first + offset) % bytes.count] == UInt8(ascii: "\n")
    }

    private func prefix(_ length: Int) -> [UInt8] {
        let head = min(length, bytes.count - first)
        return Array(bytes[first..<first + head]) + bytes[..<(length - head)]
    }

    private mutating func grow(for length: Int) {
        let old = prefix(count)
        let size = min(capacity, max(Self.kept, (count + length) * 2))
        bytes = old + [UInt8](repeating: 0, count: max(size, count + length) - count)
        first = 0
    }
}

extension [UInt8] {
    /// The number of lines, each ended by a line feed.
    var lineCount: Int {
        withUnsafeBufferPointer { bytes in
            var count = 0
            // Unchecked, so that the compiler compares many bytes at a time.
            for byte in bytes { count &+= byte == UInt8(ascii: "\n") ? 1 : 0 }
            return count
        }
    }
}
