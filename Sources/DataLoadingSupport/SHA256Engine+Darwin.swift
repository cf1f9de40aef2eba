// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(CryptoKit)
    import CryptoKit

    /// The system's SHA-256.
    struct SHA256Engine: Sendable {
        private var state = CryptoKit.SHA256()

        mutating func update(_ bytes: UnsafeRawBufferPointer) {
            state.update(bufferPointer: bytes)
        }

        var hash: [UInt8] { Array(state.finalize()) }
    }
#endif
