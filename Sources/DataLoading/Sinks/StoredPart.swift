// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The beginning of a body, which an earlier load has left beside its destination.
struct StoredPart: Sendable {
    /// The number of its bytes; at least one.
    let count: Int64
    let validator: StrongValidator
    /// The length of the whole body; nil when the server did not tell.
    let length: Int64?
    /// The digest of the URL that has sent it; nil when the SHA-256 of the whole file decides.
    let url: String?

    /// Whether a server may be asked at a URL for the rest.
    ///
    /// A validator says nothing about the representations of another URL.
    func belongs(to url: URL) -> Bool {
        self.url == nil || self.url == PartRecord.digest(of: url)
    }
}
