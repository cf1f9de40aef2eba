// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The actions that follow from one event, in order.
///
/// Most events have at most two actions. A list of two needs no memory of its own, where an array
/// would cost an allocation for nearly every event of every load.
struct LoadActionList: Sendable {
    // No optionals: the compiler copies and destroys an optional of a large enum by way of its
    // metadata, which costs more than all else here.
    private var first: LoadAction
    private var second: LoadAction
    private var others: [LoadAction]

    /// Makes an empty list.
    init() {
        first = .nothing
        second = .nothing
        others = []
    }

    /// Makes a list of one action; a literal of one may cost an array all the same.
    init(_ action: consuming LoadAction) {
        first = action
        second = .nothing
        others = []
    }

    /// Whether there is no action.
    var isEmpty: Bool { first.isNothing }

    mutating func append(_ action: consuming LoadAction) {
        if first.isNothing {
            first = action
        } else if second.isNothing {
            second = action
        } else {
            others.append(action)
        }
    }

    /// Takes the actions out, in order; none of them is copied.
    mutating func drain(_ body: (consuming LoadAction) -> Void) {
        guard !first.isNothing else { return }
        body(Self.take(&first))
        guard !second.isNothing else { return }
        body(Self.take(&second))
        // A loop over an empty array costs as much as one over a full one.
        guard !others.isEmpty else { return }
        for action in others { body(action) }
        others = []
    }

    private static func take(_ place: inout LoadAction) -> LoadAction {
        var taken = LoadAction.nothing
        swap(&taken, &place)
        return taken
    }

    static func += (left: inout LoadActionList, right: consuming LoadActionList) {
        if left.isEmpty { return left = right }
        right.drain { left.append($0) }
    }

    static func + (
        left: consuming LoadActionList, right: consuming LoadActionList
    ) -> LoadActionList {
        left += right
        return left
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
