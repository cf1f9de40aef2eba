// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingCache
import DataLoadingTesting
import DataLoadingTransport
import Foundation
import Testing

/// The bytes of a file of the cache.
@Suite struct EntryFormatTests {
    private func text(_ generator: inout SeededGenerator) -> String {
        let letters = Array("abcXYZ019-_,;=\"é😀 \u{301}")
        return String(
            (0..<Int.random(in: 0...12, using: &generator)).map { _ in
                letters[Int.random(in: 0..<letters.count, using: &generator)]
            })
    }

    private func head(_ generator: inout SeededGenerator) -> EntryHead {
        let length = [0, 1, 65_536, 65_537, 300_000].randomElement(using: &generator) ?? 0
        let fields = (0..<Int.random(in: 0...5, using: &generator)).map { _ in
            HTTPHeaders.Field(name: text(&generator), value: text(&generator))
        }
        let variant = (0..<Int.random(in: 0...3, using: &generator)).map { _ in
            VariantKey.Field(
                name: text(&generator),
                value: Bool.random(using: &generator) ? text(&generator) : nil)
        }
        return EntryHead(
            partition: (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) },
            url: "https://origin.test/" + text(&generator),
            status: Int.random(in: 100...599, using: &generator), headers: HTTPHeaders(fields),
            variant: variant, received: Int64.random(in: .min ... .max, using: &generator),
            delay: Int64.random(in: .min ... .max, using: &generator), bodyLength: length,
            blocks: (0..<EntryHead.blockCount(length)).map { _ in
                UInt64.random(in: .min ... .max, using: &generator)
            })
    }

    @Test func `XXH64 gives the hashes of its specification`() {
        #expect(XXHash64.hash([UInt8]()) == 0xEF46_DB37_51D8_E999)
        #expect(XXHash64.hash(Array("a".utf8)) == 0xD24E_C4F1_A98C_6E5B)
        #expect(XXHash64.hash(Array("abc".utf8)) == 0x44BC_2CF5_AD77_0999)
        // The vectors of the reference implementation's own check.
        var generator: UInt64 = 2_654_435_761
        let bytes = (0..<222).map { _ -> UInt8 in
            defer { generator = generator &* 11_400_714_785_074_694_797 }
            return UInt8(truncatingIfNeeded: generator >> 56)
        }
        #expect(XXHash64.hash(Array(bytes[..<1])) == 0xE934_A84A_DB05_2768)
        #expect(XXHash64.hash(Array(bytes[..<14])) == 0x8282_DCC4_994E_35C8)
        #expect(XXHash64.hash(bytes) == 0xB641_AE8C_B691_C174)
        #expect(XXHash64.hash(bytes, seed: 2_654_435_761) == 0x20CB_8AB7_AE10_C14A)
    }

    @Test func `a head that is written is read as it was`() {
        property(cases: min(propertyCases, 2_000)) { generator in
            let head = head(&generator)
            guard let bytes = EntryFormat.encode(head) else { return "not written" }
            let read = EntryFormat.decode(bytes)
            guard let read, read.headers.hasSameBytes(as: head.headers) else { return "\(head)" }
            return read == head ? nil : "\(read), not \(head)"
        }
    }

    @Test func `random bytes are no head, whatever their lengths say`() {
        property { generator in
            let length = Int.random(in: 0...400, using: &generator)
            var bytes = (0..<length).map { _ in
                UInt8.random(in: .min ... .max, using: &generator)
            }
            if Bool.random(using: &generator) {
                // With the right beginning, and with a right checksum: what is read is bounded.
                bytes = Array("DLCache1".utf8) + bytes
                if bytes.count >= 32 {
                    bytes.replaceSubrange(8..<12, with: little(UInt32(bytes.count)))
                    bytes.replaceSubrange(
                        12..<24,
                        with: little(UInt64.random(in: 0...9, using: &generator)) + [0, 0, 0, 0])
                    let end = bytes.count - 8
                    bytes.replaceSubrange(end..., with: little(XXHash64.hash(Array(bytes[..<end]))))
                }
            }
            _ = EntryFormat.lengths(bytes)
            return EntryFormat.decode(bytes) == nil ? nil : "a head"
        }
    }

    @Test func `a head with a bit changed, cut or made longer is none`() throws {
        var generator = SeededGenerator(seed: 1)
        let bytes = try #require(EntryFormat.encode(head(&generator)))
        for position in bytes.indices {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[position] ^= 1 << UInt8(bit)
                #expect(EntryFormat.decode(damaged) == nil)
            }
            #expect(EntryFormat.decode(Array(bytes[..<position])) == nil)
        }
        #expect(EntryFormat.decode(bytes + [0]) == nil)
    }

    @Test func `a head that says more than its bytes have is none`() throws {
        var generator = SeededGenerator(seed: 2)
        let bytes = try #require(EntryFormat.encode(head(&generator)))
        for position in stride(from: 24, to: bytes.count - 12, by: 1) {
            var damaged = bytes
            damaged.replaceSubrange(position..<(position + 4), with: [0xFF, 0xFF, 0xFF, 0xFF])
            let end = damaged.count - 8
            damaged.replaceSubrange(end..., with: little(XXHash64.hash(Array(damaged[..<end]))))
            // With its own checksum it may be another head, but reading it ends.
            _ = EntryFormat.decode(damaged)
        }
    }

    @Test func `a head that is too large is not written`() {
        var generator = SeededGenerator(seed: 3)
        var head = head(&generator)
        head.headers.add(String(repeating: "a", count: 5 << 20), for: "A")
        #expect(EntryFormat.encode(head) == nil)
    }

    @Test func `the name of a file is read as it was, and no other spelling is one`() {
        let name = EntryName(
            url: .init(high: 0x0A, low: .max), partition: 1, variant: 0xABCD_EF00_0000_0000)
        #expect(
            name.text
                == "000000000000000affffffffffffffff-0000000000000001-abcdef0000000000")
        #expect(name.folder == "00")
        #expect(EntryName(name.text) == name)
        for text in [
            "", "-", "--", name.text + "0", name.text.uppercased(), "+" + name.text.dropFirst(),
            String(name.text.dropLast()), name.text + "-", "new-1-1",
        ] {
            #expect(EntryName(text) == nil)
        }
        #expect(EntryName.folders.count == 256)
        #expect(EntryName.folders[10] == "0a")
    }

    private func little<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}
