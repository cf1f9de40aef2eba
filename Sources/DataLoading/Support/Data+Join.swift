// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

extension Data {
    /// How long the pieces of a body become that are put together: 16 KiB, what libcurl hands over.
    private static let joinedSize = 16_384

    /// Takes a further piece of a body in; false where both would be longer than pieces become.
    mutating func join(_ piece: Data) -> Bool {
        guard piece.count <= Self.joinedSize, count <= Self.joinedSize - piece.count else {
            return false
        }
        append(piece)
        return true
    }
}
