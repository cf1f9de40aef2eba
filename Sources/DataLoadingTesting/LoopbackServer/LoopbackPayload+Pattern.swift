// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension LoopbackPayload {
    /// Pseudorandom bytes of any length whose every position can be checked.
    ///
    /// The pattern repeats after a prime number of bytes, so a lost, repeated or moved slice is
    /// detected with buffers of any size in between.
    public static func pattern(_ count: Int64) -> LoopbackPayload {
        LoopbackPayload(block: patternBlock, length: count)
    }

    /// Whether `data` equals the pattern at `offset`.
    public static func patternMatches(_ data: Data, at offset: Int64) -> Bool {
        data.withUnsafeBytes { bytes in
            patternBlock.withUnsafeBytes { block in
                var done = 0
                while done < bytes.count {
                    let start = Int((offset + Int64(done)) % Int64(block.count))
                    let count = min(block.count - start, bytes.count - done)
                    // The C function, because half a gigabyte must not take a debug build a minute.
                    guard let actual = bytes.baseAddress, let expected = block.baseAddress,
                        memcmp(actual + done, expected + start, count) == 0
                    else { return false }
                    done += count
                }
                return true
            }
        }
    }

    /// Bytes drawn from a seed, the same for equal seeds, which are not HTTP.
    public static func garbage(_ count: Int, seed: UInt64) -> LoopbackPayload {
        bytes(random(count, seed: seed))
    }

    private static let patternBlock = random(65_521, seed: 1)

    private static func random(_ count: Int, seed: UInt64) -> [UInt8] {
        var generator = SeededGenerator(seed: seed)
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    }
}
