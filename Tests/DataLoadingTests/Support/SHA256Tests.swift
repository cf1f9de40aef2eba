// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTesting
import Foundation
import Testing

// FIPS 180-4, by the examples that NIST publishes with it.
@Suite struct SHA256Tests {
    static func hex(_ data: Data) -> String { SHA256.hex(SHA256.hash(data)) }

    @Test func `messages of several lengths have the published hashes`() {
        let published = [
            "": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq":
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            String(repeating: "a", count: 1_000_000):
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
        ]
        for (message, hash) in published { #expect(Self.hex(Data(message.utf8)) == hash) }
    }

    @Test func `a message in pieces has the hash of the whole`() {
        property(cases: min(propertyCases, 500)) { generator in
            let message = patternBytes(Int.random(in: 0...300, using: &generator))
            var hash = SHA256()
            var rest = message
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 0...130, using: &generator))
                piece.withUnsafeBytes { hash.update($0) }
                // The hash so far does not change what follows.
                _ = hash.hash
                rest = rest.dropFirst(piece.count)
            }
            return hash.hash == SHA256.hash(message) ? nil : "\(message.count) bytes"
        }
    }

    @Test func `hexadecimal digits are read back, in either case`() {
        let hash = SHA256.hash(Data("x".utf8))
        #expect(SHA256.hash(hex: SHA256.hex(hash)) == hash)
        #expect(SHA256.hash(hex: SHA256.hex(hash).uppercased()) == hash)
        #expect(SHA256.hash(hex: "é" + SHA256.hex(hash).dropFirst(2)) == nil)
    }
}
