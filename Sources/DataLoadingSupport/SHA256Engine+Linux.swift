// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if !canImport(CryptoKit)
    /// SHA-256 in Swift; sections are those of FIPS 180-4.
    struct SHA256Engine: Sendable {
        private static let blockSize = 64
        private var words = Self.initial
        /// The bytes of a block that is not full.
        private var block: [UInt8] = []
        private var count: UInt64 = 0

        mutating func update(_ bytes: UnsafeRawBufferPointer) {
            count &+= UInt64(bytes.count)
            var rest = bytes[...]
            if !block.isEmpty {
                let head = rest.prefix(Self.blockSize - block.count)
                block.append(contentsOf: head)
                rest = rest.dropFirst(head.count)
                guard block.count == Self.blockSize else { return }
                block.withUnsafeBytes { Self.compress($0, into: &words) }
                block.removeAll(keepingCapacity: true)
            }
            let whole = rest.prefix(rest.count - rest.count % Self.blockSize)
            Self.compress(UnsafeRawBufferPointer(rebasing: whole), into: &words)
            block.append(contentsOf: rest.dropFirst(whole.count))
        }

        /// The message ends with a one bit, zeros and its length: section 5.1.1.
        var hash: [UInt8] {
            var end = block + [0x80]
            end += [UInt8](repeating: 0, count: (120 - end.count % 64) % 64)
            end += stride(from: 56, through: 0, by: -8).map {
                UInt8(truncatingIfNeeded: (count &* 8) >> UInt64($0))
            }
            var words = words
            end.withUnsafeBytes { Self.compress($0, into: &words) }
            return words.flatMap { word in
                [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
            }
        }

        /// The first 32 bits of the fractions of square roots: section 5.3.3.
        private static let initial: [UInt32] = [
            0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A,
            0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19,
        ]

        /// The first 32 bits of the fractions of cube roots of the first 64 primes: section 4.2.2.
        private static let constants: [UInt32] = (2...311)
            .filter { number in !(2..<number).contains { number.isMultiple(of: $0) } }
            .map(cubeRootFraction)

        /// Computed bit by bit in integers: the largest 35-bit x with x³ ≤ p · 2⁹⁶.
        private static func cubeRootFraction(_ prime: Int) -> UInt32 {
            var root: UInt64 = 0
            for bit in stride(from: 34, through: 0, by: -1) {
                let candidate = root | 1 << UInt64(bit)
                let wide = UInt128(candidate)
                if wide * wide * wide <= UInt128(prime) << 96 { root = candidate }
            }
            return UInt32(truncatingIfNeeded: root)
        }

        /// Compresses whole blocks into the hash, without an allocation: section 6.2.2.
        private static func compress(
            _ blocks: UnsafeRawBufferPointer, into hash: inout [UInt32]
        ) {
            withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { schedule in
                constants.withUnsafeBufferPointer { constants in
                    for start in stride(from: 0, to: blocks.count, by: blockSize) {
                        expand(blocks, start, into: schedule)
                        mix(schedule, constants, into: &hash)
                    }
                }
            }
        }

        /// Makes the 64 words of a block.
        private static func expand(
            _ blocks: UnsafeRawBufferPointer, _ start: Int,
            into words: UnsafeMutableBufferPointer<UInt32>
        ) {
            for index in 0..<16 {
                let bytes = blocks.loadUnaligned(
                    fromByteOffset: start + 4 * index, as: UInt32.self)
                words.initializeElement(at: index, to: UInt32(bigEndian: bytes))
            }
            for index in 16..<64 {
                let early = words[index - 15]
                let late = words[index - 2]
                let first = rotated(early, 7) ^ rotated(early, 18) ^ early >> 3
                let second = rotated(late, 17) ^ rotated(late, 19) ^ late >> 10
                words.initializeElement(
                    at: index, to: words[index - 16] &+ first &+ words[index - 7] &+ second)
            }
        }

        private static func mix(
            _ words: UnsafeMutableBufferPointer<UInt32>, _ constants: UnsafeBufferPointer<UInt32>,
            into hash: inout [UInt32]
        ) {
            var (a, b, c, d) = (hash[0], hash[1], hash[2], hash[3])
            var (e, f, g, h) = (hash[4], hash[5], hash[6], hash[7])
            for index in 0..<64 {
                let sum1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
                let choice = (e & f) ^ (~e & g)
                let first = h &+ sum1 &+ choice &+ constants[index] &+ words[index]
                let sum0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
                let majority = (a & b) ^ (a & c) ^ (b & c)
                (h, g, f, e) = (g, f, e, d &+ first)
                (d, c, b, a) = (c, b, a, first &+ sum0 &+ majority)
            }
            hash[0] &+= a
            hash[1] &+= b
            hash[2] &+= c
            hash[3] &+= d
            hash[4] &+= e
            hash[5] &+= f
            hash[6] &+= g
            hash[7] &+= h
        }

        private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 {
            word >> count | word << (32 - count)
        }
    }
#endif
