// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// SHA-1 (FIPS 180-4 section 6.1), by which Redis names scripts.
///
/// It is broken as a protection, and protects nothing here.
enum SHA1 {
    /// Returns the digest in lower-case hexadecimal digits.
    static func hexDigest(of bytes: [UInt8]) -> String {
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        let padded = padded(bytes)
        for start in stride(from: 0, to: padded.count, by: 64) {
            mix(padded[start..<start + 64], into: &state)
        }
        return state.map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }.joined()
    }

    /// The bytes, a one bit, zeros, and the number of bits: a multiple of 64 bytes.
    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        var padded = bytes + [0x80]
        while padded.count % 64 != 56 { padded.append(0) }
        let bits = UInt64(bytes.count) &* 8
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            padded.append(UInt8(truncatingIfNeeded: bits >> shift))
        }
        return padded
    }

    private static func mix(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
        var words: [UInt32] = stride(from: block.startIndex, to: block.endIndex, by: 4).map { at in
            block[at..<at + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }
        for index in 16..<80 {
            let word = words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16]
            words.append(rotated(word, by: 1))
        }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for (index, word) in words.enumerated() {
            let (mixed, constant) = round(index, b, c, d)
            let next = rotated(a, by: 5) &+ mixed &+ e &+ constant &+ word
            (a, b, c, d, e) = (next, a, rotated(b, by: 30), c, d)
        }
        for (index, word) in [a, b, c, d, e].enumerated() { state[index] &+= word }
    }

    private static func round(
        _ index: Int, _ b: UInt32, _ c: UInt32, _ d: UInt32
    ) -> (UInt32, UInt32) {
        switch index {
        case ..<20: (b & c | ~b & d, 0x5A82_7999)
        case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
        case ..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
        default: (b ^ c ^ d, 0xCA62_C1D6)
        }
    }

    private static func rotated(_ word: UInt32, by count: UInt32) -> UInt32 {
        word << count | word >> (32 - count)
    }
}
