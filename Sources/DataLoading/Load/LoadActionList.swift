// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The actions that follow from one event, in order.
///
/// Most events have one action or none. A list of one needs no memory of its own, where an array
/// would cost an allocation for nearly every event of every load.
struct LoadActionList: Sendable {
    private var first: LoadAction?
    private var others: [LoadAction]

    /// Makes an empty list.
    init() {
        first = nil
        others = []
    }

    /// Makes a list of one action; a literal of one may cost an array all the same.
    init(_ action: consuming LoadAction) {
        first = action
        others = []
    }

    mutating func append(_ action: LoadAction) {
        if first == nil { first = action } else { others.append(action) }
    }

    /// Makes room for a number of actions.
    mutating func reserveCapacity(_ count: Int) {
        others.reserveCapacity(max(count - 1, 0))
    }

    func forEach(_ body: (LoadAction) -> Void) {
        if let first { body(first) }
        for action in others { body(action) }
    }

    static func += (left: inout LoadActionList, right: LoadActionList) {
        right.forEach { left.append($0) }
    }

    static func + (left: LoadActionList, right: LoadActionList) -> LoadActionList {
        var sum = left
        sum += right
        return sum
    }
}

extension LoadActionList: ExpressibleByArrayLiteral {
    // Inlined, so that the compiler makes no array for a literal.
    @inline(__always)
    init(arrayLiteral actions: LoadAction...) {
        self.init()
        for action in actions { append(action) }
    }
}
