// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(CryptoKit)
    import CryptoKit
#endif

/// SHA-256 (FIPS 180-4), for the code challenges of RFC 7636 and for what a cache knows of a secret.
///
/// On Linux neither the toolchain nor libcurl offers one.
package enum SHA256 {
    /// The 32-byte hash of a message.
    package static func hash(_ message: some Sequence<UInt8>) -> [UInt8] {
        #if canImport(CryptoKit)
            return Array(CryptoKit.SHA256.hash(data: Array(message)))
        #else
            return blocks(of: Array(message)).reduce(into: initial, compress)
                .flatMap { word in
                    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
                }
        #endif
    }

    #if !canImport(CryptoKit)
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

        /// The message, a one bit, zeros and its length: section 5.1.1.
        private static func blocks(of message: [UInt8]) -> [ArraySlice<UInt8>] {
            var padded = message + [0x80]
            padded += [UInt8](repeating: 0, count: (120 - padded.count % 64) % 64)
            let length = UInt64(message.count) &* 8
            padded += stride(from: 56, through: 0, by: -8).map {
                UInt8(truncatingIfNeeded: length >> UInt64($0))
            }
            return stride(from: 0, to: padded.count, by: 64).map { padded[$0..<($0 + 64)] }
        }

        /// Section 6.2.2: compresses one block into the hash.
        private static func compress(_ hash: inout [UInt32], _ block: ArraySlice<UInt8>) {
            var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { index in
                block[index..<(index + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            }
            for index in 16..<64 {
                let early = words[index - 15]
                let late = words[index - 2]
                let first = rotated(early, 7) ^ rotated(early, 18) ^ early >> 3
                let second = rotated(late, 17) ^ rotated(late, 19) ^ late >> 10
                words.append(words[index - 16] &+ first &+ words[index - 7] &+ second)
            }
            var v = hash
            for index in 0..<64 {
                let sum1 = rotated(v[4], 6) ^ rotated(v[4], 11) ^ rotated(v[4], 25)
                let choice = (v[4] & v[5]) ^ (~v[4] & v[6])
                let first = v[7] &+ sum1 &+ choice &+ constants[index] &+ words[index]
                let sum0 = rotated(v[0], 2) ^ rotated(v[0], 13) ^ rotated(v[0], 22)
                let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2])
                v = [
                    first &+ sum0 &+ majority, v[0], v[1], v[2], v[3] &+ first, v[4], v[5], v[6],
                ]
            }
            hash = zip(hash, v).map { $0 &+ $1 }
        }

        private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 {
            word >> count | word << (32 - count)
        }
    #endif
}
