// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A large value whose copies share one place in memory until one of them changes.
struct CopyOnWrite<Value: Sendable>: Sendable {
    // Written only by its one owner, which `change` proves.
    private final class Box: @unchecked Sendable {
        var value: Value

        init(_ value: Value) {
            self.value = value
        }
    }

    private var box: Box

    init(_ value: Value) {
        box = Box(value)
    }

    @inline(__always) var value: Value { box.value }

    /// Not `_modify`, whose frame would cost an allocation with each change.
    @inline(__always) mutating func change(_ body: (inout Value) -> Void) {
        if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
        body(&box.value)
    }
}
