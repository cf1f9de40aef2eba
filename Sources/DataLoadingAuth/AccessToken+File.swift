// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
public import Foundation

extension AccessToken {
    /// Reads the token that a platform keeps in a file and replaces there.
    ///
    /// Kubernetes projects service account tokens into such files, and systemd credentials:
    ///
    /// ```swift
    /// let authoriser = TokenAuthoriser(hosts: ["api.example.com"]) { _ in
    ///     try await AccessToken(contentsOf: file)
    /// }
    /// ```
    ///
    /// The authoriser reads the file again when nine tenths of `lifetime` are over, and after a
    /// 401. White space around the token is removed. The file's mode is not checked, because these
    /// platforms choose it. Calls that come while the same file is read wait for that reading, so
    /// that a disk that stalls holds one thread; a cancelled task stops waiting.
    ///
    /// - Parameters:
    ///   - file: The file; a directory or a link in its path may be replaced at any time.
    ///   - lifetime: The time for which the token is used without reading the file again; default
    ///     60 seconds. Kubernetes replaces a token well before it expires.
    /// - Throws: `AuthorisationError.store` when the file cannot be read, is empty or larger than 1
    ///   MiB, or has characters that no token has. The reason names neither the path nor the
    ///   content. `CancellationError` when the task is cancelled.
    public init(contentsOf file: URL, lifetime: Duration = .seconds(60)) async throws {
        let bytes = try await TokenFileReads.shared.content(of: file.path)
        let text = String(decoding: bytes, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty else {
            throw AuthorisationError.store(reason: "the token's file is empty")
        }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw AuthorisationError.store(reason: "the token's file has something else")
        }
        self.init(text, lifetime: lifetime)
    }
}
