// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension LoopbackPayload {
    /// Bytes that look random and whose every position can be checked, of any length.
    ///
    /// The pattern repeats after a prime number of bytes, so a slice that was lost, doubled or put
    /// at another place shows, whatever the size of the buffers between.
    public static func pattern(_ count: Int64) -> LoopbackPayload {
        LoopbackPayload(block: patternBlock, length: count)
    }

    /// Whether `data` is what the pattern has at `offset`.
    public static func patternMatches(_ data: Data, at offset: Int64) -> Bool {
        data.withUnsafeBytes { bytes in
            patternBlock.withUnsafeBytes { block in
                var done = 0
                while done < bytes.count {
                    let start = Int((offset + Int64(done)) % Int64(block.count))
                    let count = min(block.count - start, bytes.count - done)
                    // The C function: half a gigabyte must not take a debug build a minute.
                    guard let actual = bytes.baseAddress, let expected = block.baseAddress,
                        memcmp(actual + done, expected + start, count) == 0
                    else { return false }
                    done += count
                }
                return true
            }
        }
    }

    /// Bytes drawn from a seed, the same for equal seeds: what is no HTTP at all.
    public static func garbage(_ count: Int, seed: UInt64) -> LoopbackPayload {
        bytes(random(count, seed: seed))
    }

    private static let patternBlock = random(65_521, seed: 1)

    private static func random(_ count: Int, seed: UInt64) -> [UInt8] {
        var generator = SeededGenerator(seed: seed)
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    }
}
