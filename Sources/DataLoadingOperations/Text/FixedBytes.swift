// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Bytes that are written one after another into memory of a fixed size.
///
/// To append to an array costs several times as much. What does not fit is left out. The memory is
/// another one's, who keeps it for as long as these bytes are used.
struct FixedBytes: ByteSink {
    private let memory: UnsafeMutableBufferPointer<UInt8>
    /// The number of bytes that were written.
    private(set) var count: Int
    /// The number of bytes that may be written.
    private var limit: Int

    /// Takes memory; `count` is the number of its bytes that were written before.
    init(_ memory: UnsafeMutableBufferPointer<UInt8>, count: Int = 0) {
        self.memory = memory
        self.count = min(max(0, count), memory.count)
        limit = memory.count
    }

    /// What was written.
    var written: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: memory[..<count]) }

    /// Makes an array of what `body` writes, which must not keep the bytes.
    static func array(capacity: Int, _ body: (inout FixedBytes) -> Void) -> [UInt8] {
        Array(unsafeUninitializedCapacity: capacity) { memory, count in
            var bytes = FixedBytes(memory)
            body(&bytes)
            count = bytes.count
        }
    }

    /// Keeps so many bytes free, until another number is kept.
    mutating func keep(free bytes: Int) { limit = memory.count - bytes }

    mutating func append(_ byte: UInt8) {
        guard count < limit else { return }
        memory[count] = byte
        count += 1
    }

    /// Appends all bytes or, where they do not fit, none.
    mutating func append(contentsOf bytes: UnsafeBufferPointer<UInt8>) {
        guard let source = bytes.baseAddress else { return }
        write(bytes.count) { $0.update(from: source, count: bytes.count) }
    }

    /// Lets `body` write so many bytes or, where they do not fit, nothing.
    @inline(__always) mutating func write(
        _ length: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Void
    ) {
        guard length <= limit - count, let start = memory.baseAddress else { return }
        body(start + count)
        count += length
    }

    mutating func append(contentsOf text: StaticString) {
        text.withUTF8Buffer { append(contentsOf: $0) }
    }

    /// Removes what was written after a count of bytes.
    mutating func removeAll(after count: Int) { self.count = min(max(0, count), self.count) }
}
