// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Memory for one line after another: an array for each would be an allocation of 4 KiB for each load.
///
/// A line of the same second begins like the one before it, whose start is then used again.
struct LineMemory: Sendable {
    private final class Storage: Sendable {
        nonisolated(unsafe) let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(
            capacity: LogLine.maxLength)

        deinit {
            bytes.deallocate()
        }
    }

    private let storage = Storage()
    /// The second of the line that is in the memory; nil while there is none.
    private var second: Int64?
    private var startLength = 0

    /// The start of a line, to which the rest is to be written before the next one begins.
    ///
    /// All lines must have the same format.
    mutating func begin(_ format: AccessLog.Format, _ time: LogTime) -> FixedBytes {
        if second == time.second { return FixedBytes(storage.bytes, count: startLength) }
        var bytes = FixedBytes(storage.bytes)
        LogLine.writeStart(format, time, to: &bytes)
        (second, startLength) = (time.second, bytes.count)
        return bytes
    }
}
