// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    /// The secret that every load of the matrix has in three places.
    enum FaultSecret {
        static let word = "canary7f3a"
        static let headers: [(String, String)] = [
            ("Authorization", "Bearer \(word)"), ("X-Api-Key", word),
        ]
        static let query = "token=\(word)"
    }
#endif
