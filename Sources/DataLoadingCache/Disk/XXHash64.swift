// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// XXH64, a checksum of 64 bits (https://github.com/Cyan4973/xxHash, XXH64 of its specification).
///
/// It finds what a loss of power or a bad disk does to a file: one damaged file in 2⁶⁴ would pass.
/// It does not find forgery, against which the mode of the directory protects. It reads a byte in
/// about a twentieth of the time that SHA-256 needs.
enum XXHash64 {
    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

    static func hash(_ bytes: some ContiguousBytes, seed: UInt64 = 0) -> UInt64 {
        bytes.withUnsafeBytes { hash($0, seed) }
    }

    private static func hash(_ bytes: UnsafeRawBufferPointer, _ seed: UInt64) -> UInt64 {
        var position = 0
        var hash = seed &+ prime5
        if bytes.count >= 32 {
            var lane1 = seed &+ prime1 &+ prime2
            var lane2 = seed &+ prime2
            var lane3 = seed
            var lane4 = seed &- prime1
            while bytes.count - position >= 32 {
                lane1 = round(lane1, word(bytes, position))
                lane2 = round(lane2, word(bytes, position + 8))
                lane3 = round(lane3, word(bytes, position + 16))
                lane4 = round(lane4, word(bytes, position + 24))
                position += 32
            }
            hash = rotated(lane1, 1) &+ rotated(lane2, 7)
            hash = hash &+ rotated(lane3, 12) &+ rotated(lane4, 18)
            hash = merged(merged(merged(merged(hash, lane1), lane2), lane3), lane4)
        }
        hash = hash &+ UInt64(bytes.count)
        while bytes.count - position >= 8 {
            hash ^= round(0, word(bytes, position))
            hash = rotated(hash, 27) &* prime1 &+ prime4
            position += 8
        }
        if bytes.count - position >= 4 {
            let half = bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)
            hash ^= UInt64(UInt32(littleEndian: half)) &* prime1
            hash = rotated(hash, 23) &* prime2 &+ prime3
            position += 4
        }
        for byte in bytes[position...] {
            hash ^= UInt64(byte) &* prime5
            hash = rotated(hash, 11) &* prime1
        }
        hash = (hash ^ hash >> 33) &* prime2
        hash = (hash ^ hash >> 29) &* prime3
        return hash ^ hash >> 32
    }

    private static func word(_ bytes: UnsafeRawBufferPointer, _ position: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    }

    private static func round(_ lane: UInt64, _ input: UInt64) -> UInt64 {
        rotated(lane &+ input &* prime2, 31) &* prime1
    }

    private static func merged(_ hash: UInt64, _ lane: UInt64) -> UInt64 {
        (hash ^ round(0, lane)) &* prime1 &+ prime4
    }

    private static func rotated(_ word: UInt64, _ count: UInt64) -> UInt64 {
        word << count | word >> (64 - count)
    }
}
