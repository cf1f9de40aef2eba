// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension String {
    /// Whether both have the same bytes in UTF-8.
    ///
    /// `==` is not enough, because it compares different Unicode spellings of a text as equal. It is
    /// not as fast either.
    @inlinable public func hasSameBytes(as other: String) -> Bool {
        let isSame = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in
                UnsafeRawBufferPointer(left).hasSameBytes(as: UnsafeRawBufferPointer(right))
            }
        }
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}

extension [String] {
    /// Whether both have texts with the same bytes, in the same order.
    public func hasSameBytes(as other: [String]) -> Bool {
        count == other.count && zip(self, other).allSatisfy { $0.hasSameBytes(as: $1) }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether both hold the same bytes.
    @inlinable public func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard let left = baseAddress, let right = other.baseAddress else { return true }
        return memcmp(left, right, count) == 0
    }

    /// Whether it begins with the bytes of an ASCII text.
    @inlinable public func starts(with text: StaticString) -> Bool {
        guard text.hasPointerRepresentation, count >= text.utf8CodeUnitCount,
            let bytes = baseAddress
        else { return false }
        return memcmp(bytes, text.utf8Start, text.utf8CodeUnitCount) == 0
    }
}
