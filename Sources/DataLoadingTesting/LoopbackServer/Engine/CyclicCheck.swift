// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// CRC-32, the checksum of gzip (RFC 1952 section 8).
enum CyclicCheck {
    private static let polynomial: UInt32 = 0xEDB8_8320

    static func sum(of bytes: [UInt8]) -> UInt32 {
        var register = UInt32.max
        for byte in bytes {
            register ^= UInt32(byte)
            for _ in 0..<8 { register = timesX(register) }
        }
        return ~register
    }

    /// The checksum of zero bytes, in as many steps as their number has bits.
    ///
    /// A zero bit multiplies the register by x, so all of them multiply it by a power of x.
    static func sum(ofZeros count: Int64) -> UInt32 {
        var power: UInt32 = 1 << 31
        var square: UInt32 = 1 << 30
        var exponent = count * 8
        while exponent > 0 {
            if exponent & 1 == 1 { power = product(power, square) }
            square = product(square, square)
            exponent >>= 1
        }
        return ~product(power, .max)
    }

    /// The product of two polynomials, whose highest bit is the coefficient of 1.
    private static func product(_ left: UInt32, _ right: UInt32) -> UInt32 {
        var result: UInt32 = 0
        var shifted = right
        for bit in (0..<32).reversed() {
            if left >> UInt32(bit) & 1 == 1 { result ^= shifted }
            shifted = timesX(shifted)
        }
        return result
    }

    private static func timesX(_ value: UInt32) -> UInt32 {
        value & 1 == 1 ? value >> 1 ^ polynomial : value >> 1
    }
}
