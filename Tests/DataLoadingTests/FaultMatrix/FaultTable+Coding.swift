// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingTransport
    @testable import DataLoadingAuth
    import DataLoading
    import DataLoadingTesting
    import Foundation

    extension FaultTable {
        /// Row 40: codings that expand, are malformed or are cut off.
        static let codingFaults: [Fault] = [
            Fault(number: 40, title: "a gzip bomb: 2 GB whole, 64 MB in chunks") { cell in
                // A streamed body has no limit and must arrive in bounded memory.
                let count: Int64 = cell.isWhole ? 2_000_000_000 : 64_000_000
                return FaultScene.answering(
                    .ok(.gzipBomb(inflatedCount: count), headers: ["Content-Encoding": "gzip"])
                ).with { $0.meant = .zeros(count) }
            } expectation: {
                FaultExpectation($0.isWhole ? "body_too_large" : "success", in: $0)
            },
            coded("six codings", Array(repeating: "gzip", count: 6).joined(separator: ", "), "x"),
            coded("an unknown coding", "br", "hello"),
            coded("gzip that is none", "gzip", "hello"),
            coded("gzip with a wrong sum", "gzip", .bytes(changed)),
            coded("gzip that is cut off", "gzip", .bytes(Array(packed.dropLast(3)))),
        ]

        private static func coded(
            _ title: String, _ coding: String, _ body: LoopbackPayload
        ) -> Fault {
            .answer(
                40, title, .ok(body, headers: ["Content-Encoding": coding]),
                meant: "hello"
            ) {
                FaultExpectation("decode", in: $0)
            }
        }

        /// "hello" in gzip format, stored.
        private static let packed: [UInt8] = [
            0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF, 1, 5, 0, 0xFA, 0xFF, 0x68, 0x65, 0x6C, 0x6C,
            0x6F,
            0x86, 0xA6, 0x10, 0x36, 5, 0, 0, 0,
        ]

        private static let changed = packed.enumerated().map { $0 == 20 ? $1 ^ 1 : $1 }
    }
#endif
