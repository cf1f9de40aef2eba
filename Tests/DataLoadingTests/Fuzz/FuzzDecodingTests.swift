// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingTransport
    @testable import DataLoadingCurl
    @testable import DataLoading
    @testable import DataLoadingTesting
    import Foundation
    import Testing

    /// Content codings: their names, and arbitrary bytes declared as gzip.
    @Suite struct FuzzDecodingTests {
        @Test func `the Content-Encoding parser accepts or refuses any bytes`() {
            let words = [",", " ", "gzip", "deflate", "br", "identity", "x-gzip", "\t", "GZIP"]
            fuzz(["gzip", "deflate, gzip", "identity", "", "gzip,gzip,gzip"], words: words) {
                input in
                let text = String(decoding: input, as: UTF8.self)
                guard (try? ContentDecoder.make(contentEncoding: text)) != nil else {
                    return .refused
                }
                let names = text.lowercased().split { ", \t".contains($0) }
                let known: Set<Substring> = ["gzip", "x-gzip", "deflate", "identity"]
                return names.allSatisfy(known.contains) ? .taken : .wrong(text)
            }
        }

        @Test func `the gzip decoder accepts or refuses any bytes, however they are split`() {
            var gzip: [UInt8] = []
            LoopbackPayload.gzip(Array("hello hello hello".utf8)).forEachSlice { gzip += $0 }
            var bomb: [UInt8] = []
            LoopbackPayload.gzipBomb(inflatedCount: 50_000).forEachSlice { bomb += $0 }
            // The mutator starts from text, so each byte is one scalar.
            let seeds = [gzip, bomb, gzip + gzip].map { bytes in
                String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
            }
            fuzz(seeds, words: ["\u{1F}\u{8B}\u{8}", "\0\0\0\0", "\u{FF}\u{FF}"]) { input in
                let bytes = Self.bytes(input)
                let whole = Self.decode(bytes, piece: bytes.count, room: 997)
                let sliced = Self.decode(bytes, piece: 1, room: 64)
                guard whole.count <= Self.most, sliced.count <= Self.most else {
                    return .wrong("\(whole.count) bytes")
                }
                guard whole.isWhole == sliced.isWhole,
                    !whole.isWhole || whole.sum == sliced.sum
                else { return .wrong("cut otherwise, it decodes otherwise") }
                return whole.isWhole ? .taken : .refused
            }
        }

        private static let most = 4_000_000

        private struct Decoded {
            var count = 0
            var sum: UInt64 = 0
            var isWhole = false
        }

        private static func bytes(_ input: [UInt8]) -> [UInt8] {
            String(decoding: input, as: UTF8.self).unicodeScalars.map {
                UInt8(truncatingIfNeeded: $0.value)
            }
        }

        private static func decode(_ bytes: [UInt8], piece: Int, room: Int) -> Decoded {
            var decoded = Decoded()
            guard let decoder = try? ContentDecoder.make(contentEncoding: "gzip") else {
                return decoded
            }
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 1)
            defer { buffer.deallocate() }
            do {
                var start = 0
                while start < bytes.count {
                    let end = min(bytes.count, start + max(1, piece))
                    bytes[start..<end].withUnsafeBytes { decoder.append($0) }
                    start = end
                    while case .output(let count) = try decoder.decode(into: buffer) {
                        decoded.count += count
                        for byte in buffer[..<count] {
                            decoded.sum = decoded.sum &* 31 &+ UInt64(byte)
                        }
                    }
                }
                try decoder.finish()
                decoded.isWhole = true
            } catch {
                decoded.isWhole = false
            }
            return decoded
        }
    }
#endif
