// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The lines of the last head that was read for one handle, and the fields that they were.
///
/// Most servers send the same fields again and again, in the same order. A line that is the same,
/// byte for byte, is the same field, and is not parsed again.
package final class FieldMemory {
    private struct Entry {
        let start: Int
        let end: Int
        var field: HTTPHeaders.Field
    }

    /// The maximum number of bytes and of lines; further lines are parsed each time.
    package static let byteLimit = 4_096
    package static let lineLimit = 64
    @exclusivity(unchecked) private var bytes: [UInt8] = []
    @exclusivity(unchecked) private var entries: [Entry] = []

    package init() {}

    /// The number of lines.
    package var count: Int { entries.count }

    /// Returns the field of a line, where the one at this index is the same.
    func field(at index: Int, like line: UnsafeRawBufferPointer) -> HTTPHeaders.Field? {
        guard index < entries.count else { return nil }
        let start = entries[index].start
        guard entries[index].end - start == line.count, isSame(line, start) else { return nil }
        return entries[index].field
    }

    /// Remembers a line instead of the one at this index; returns whether there was room for it.
    ///
    /// One of another length takes those behind it along.
    func remember(
        _ field: HTTPHeaders.Field, at index: Int, _ line: UnsafeRawBufferPointer
    ) -> Bool {
        if index < entries.count {
            let (start, end) = (entries[index].start, entries[index].end)
            if end - start == line.count {
                bytes.replaceSubrange(start..<end, with: line)
                entries[index].field = field
                return true
            }
            bytes.removeSubrange(start...)
            entries.removeSubrange(index...)
        }
        guard entries.count == index, index < Self.lineLimit,
            bytes.count + line.count <= Self.byteLimit
        else { return false }
        let start = bytes.count
        bytes.append(contentsOf: line)
        entries.append(Entry(start: start, end: bytes.count, field: field))
        return true
    }

    private func isSame(_ line: UnsafeRawBufferPointer, _ start: Int) -> Bool {
        guard let other = line.baseAddress else { return true }
        return bytes.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return false }
            return memcmp(base + start, other, line.count) == 0
        }
    }
}
