// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Packs bits into bytes in the order of deflate: from the least significant bit up.
struct BitWriter {
    private(set) var bytes: [UInt8] = []
    private var usedBits = 0

    /// Whether the last byte is full.
    var isAligned: Bool { usedBits == 0 }

    /// The number of free bits in the last byte.
    var missingBits: Int { usedBits == 0 ? 0 : 8 - usedBits }

    /// Writes a number, its least significant bit first.
    mutating func write(_ number: Int, bits: Int) {
        for bit in 0..<bits { append(number >> bit & 1 == 1) }
    }

    /// Writes a Huffman code, its most significant bit first.
    mutating func write(code: Int, bits: Int) {
        for bit in (0..<bits).reversed() { append(code >> bit & 1 == 1) }
    }

    private mutating func append(_ bit: Bool) {
        if usedBits == 0 { bytes.append(0) }
        if bit { bytes[bytes.count - 1] |= 1 << UInt8(usedBits) }
        usedBits = (usedBits + 1) % 8
    }
}
