// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import Foundation

extension Data {
    /// The maximum length of joined body pieces: 16 KiB, what libcurl hands over at once.
    private static let joinedSize = 16_384

    /// Appends a further piece of a body; false when the result would exceed the maximum length.
    package mutating func join(_ piece: Data) -> Bool {
        guard piece.count <= Self.joinedSize, count <= Self.joinedSize - piece.count else {
            return false
        }
        append(piece)
        return true
    }
}
