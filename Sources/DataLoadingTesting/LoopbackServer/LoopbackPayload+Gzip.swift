// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension LoopbackPayload {
    /// The bytes in gzip's format (RFC 1952), stored uncompressed: a little longer than plain.
    ///
    /// Nest calls for several codings. Cut or change the bytes for a broken stream.
    public static func gzip(_ bytes: [UInt8]) -> LoopbackPayload {
        var output = gzipHeader
        var rest = bytes[...]
        repeat {
            let block = rest.prefix(65_535)
            rest = rest.dropFirst(block.count)
            let length = UInt16(block.count)
            output.append(rest.isEmpty ? 1 : 0)
            output += littleEndian(length) + littleEndian(~length) + block
        } while !rest.isEmpty
        output += littleEndian(CyclicCheck.sum(of: bytes))
        return .bytes(output + littleEndian(UInt32(truncatingIfNeeded: bytes.count)))
    }

    /// A gzip stream that inflates to this many zero bytes, about 1,030 times its own size.
    ///
    /// Its middle is one repeated byte, so that gigabytes cost neither memory nor time to make.
    public static func gzipBomb(inflatedCount: Int64) -> LoopbackPayload {
        precondition(inflatedCount > 0, "A bomb has at least one byte")
        // One zero to copy from, copies of 258 bytes each, and single zeros for the rest.
        let copies = (inflatedCount - 1) / 258
        var start = BitWriter()
        writeCodes(to: &start)
        start.write(code: 0b10, bits: 2)
        // A copy is two zero bits, so all copies are zero bits, here up to a byte boundary.
        let inStart = min(Int64(start.missingBits), copies * 2)
        start.write(0, bits: Int(inStart))
        let zeroBits = copies * 2 - inStart
        var end = start.isAligned ? BitWriter() : start
        end.write(0, bits: Int(zeroBits % 8))
        for _ in 0..<(inflatedCount - 1) % 258 { end.write(code: 0b10, bits: 2) }
        end.write(code: 0b11, bits: 2)

        let head = gzipHeader + (start.isAligned ? start.bytes : [])
        let tail =
            end.bytes + littleEndian(CyclicCheck.sum(ofZeros: inflatedCount))
            + littleEndian(UInt32(truncatingIfNeeded: inflatedCount))
        return .bytes(head) + .zeros(zeroBits / 8) + .bytes(tail)
    }

    private static let gzipHeader: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]

    /// Starts a final deflate block with codes of its own (RFC 1951 section 3.2.7).
    ///
    /// "Copy 258" gets the code 0, the literal zero 10, the end 11, "distance one" 0.
    private static func writeCodes(to writer: inout BitWriter) {
        writer.write(1, bits: 1)
        writer.write(2, bits: 2)
        writer.write(286 - 257, bits: 5)
        writer.write(0, bits: 5)
        writer.write(18 - 4, bits: 4)
        // The lengths of the codes for code lengths, in the order of the RFC: 18 has one bit, the
        // lengths 2 and 1 have two.
        for length in [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2] {
            writer.write(length, bits: 3)
        }
        let writeZeros = { (writer: inout BitWriter, count: Int) in
            writer.write(code: 0b0, bits: 1)
            writer.write(count - 11, bits: 7)
        }
        writer.write(code: 0b11, bits: 2)
        writeZeros(&writer, 138)
        writeZeros(&writer, 117)
        writer.write(code: 0b11, bits: 2)
        writeZeros(&writer, 28)
        writer.write(code: 0b10, bits: 2)
        writer.write(code: 0b10, bits: 2)
    }

    private static func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}
