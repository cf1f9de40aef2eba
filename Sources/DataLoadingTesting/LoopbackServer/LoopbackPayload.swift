// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Bytes for a server to send, of any length, without holding them in memory.
///
/// A string literal is a payload. `.pattern` and `.zeros` make gigabytes from a small block.
public struct LoopbackPayload: Sendable {
    /// A block that is repeated up to a length in bytes.
    struct Segment: Sendable {
        let block: [UInt8]
        let length: Int64
    }

    private(set) var segments: [Segment] = []

    /// The number of bytes.
    public var count: Int64 { segments.reduce(0) { $0 + $1.length } }

    /// No bytes.
    public static let empty = LoopbackPayload()

    /// A payload of these bytes.
    public static func data(_ data: Data) -> LoopbackPayload {
        bytes([UInt8](data))
    }

    /// A payload of these bytes.
    public static func bytes(_ bytes: [UInt8]) -> LoopbackPayload {
        LoopbackPayload(block: bytes, length: Int64(bytes.count))
    }

    /// A payload of the text in UTF-8.
    public static func text(_ text: String) -> LoopbackPayload {
        bytes([UInt8](text.utf8))
    }

    /// A payload that repeats bytes, such as one header line a hundred thousand times.
    public static func repeating(_ bytes: [UInt8], count: Int) -> LoopbackPayload {
        LoopbackPayload(block: bytes, length: Int64(bytes.count) * Int64(count))
    }

    /// A payload of zero bytes.
    public static func zeros(_ count: Int64) -> LoopbackPayload {
        LoopbackPayload(block: [0], length: count)
    }

    /// The first payload followed by the second.
    public static func + (left: LoopbackPayload, right: LoopbackPayload) -> LoopbackPayload {
        var sum = left
        sum.segments += right.segments
        return sum
    }

    /// Makes a payload of `length` bytes by repeating a block.
    init(block: [UInt8], length: Int64) {
        guard length > 0, !block.isEmpty else { return }
        var block = block
        if length > Int64(block.count), block.count < Self.sliceSize / 2 {
            // Short blocks are repeated in memory, so that one write carries many.
            let copies = min(Int64(Self.sliceSize / block.count), length / Int64(block.count) + 1)
            block = Array(repeatElement(block, count: Int(copies)).joined())
        }
        segments = [Segment(block: block, length: length)]
    }

    private init() {}
}

extension LoopbackPayload {
    /// The maximum size of a slice in bytes.
    static let sliceSize = 65_536

    /// Passes every byte to `body` in order, in slices.
    func forEachSlice(
        atMost limit: Int = sliceSize, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows {
        for segment in segments {
            try segment.block.withUnsafeBytes { block in
                var offset: Int64 = 0
                while offset < segment.length {
                    let start = Int(offset % Int64(block.count))
                    let most = min(block.count - start, limit, Self.sliceSize)
                    let count = Int(min(Int64(most), segment.length - offset))
                    try body(UnsafeRawBufferPointer(rebasing: block[start..<(start + count)]))
                    offset += Int64(count)
                }
            }
        }
    }
}

extension LoopbackPayload: ExpressibleByStringInterpolation {
    /// Makes the payload of a text in UTF-8.
    public init(stringLiteral value: String) {
        self = .text(value)
    }
}
