// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A large value whose copies share storage until one of them changes.
public struct CopyOnWrite<Value: Sendable>: Sendable {
    // Written only when uniquely referenced, which `change` ensures. That is also why it is not
    // checked for exclusive access, which costs more than the access.
    @usableFromInline final class Box: @unchecked Sendable {
        @exclusivity(unchecked) @usableFromInline var value: Value

        @inlinable init(_ value: Value) {
            self.value = value
        }
    }

    @usableFromInline var box: Box

    /// Makes storage for a value.
    @inlinable public init(_ value: Value) {
        box = Box(value)
    }

    /// The value.
    @inlinable @inline(__always) public var value: Value { box.value }

    /// Whether neither of two copies was changed since one was made of the other.
    @inlinable public func sharesStorage(with other: CopyOnWrite) -> Bool { box === other.box }

    /// Changes the value; not `_modify`, whose frame would cost an allocation with each change.
    @inlinable @inline(__always) public mutating func change<Result>(
        _ body: (inout Value) -> Result
    ) -> Result {
        if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
        return body(&box.value)
    }
}
