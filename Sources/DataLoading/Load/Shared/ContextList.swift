// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The contexts of a service whose factory, loaders or loads still exist; it keeps none of them.
final class ContextList: Sendable {
    private struct WeakContext: Sendable {
        weak var context: LoadContext?
    }

    private let contexts = Locked<[ObjectIdentifier: WeakContext]>([:])

    var count: Int { contexts.withLock { $0.count } }

    func add(_ context: LoadContext) {
        contexts.withLock { $0[ObjectIdentifier(context)] = WeakContext(context: context) }
    }

    func forget(_ context: LoadContext) {
        contexts.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(context)) }
    }

    /// The contexts that still exist.
    var present: [LoadContext] {
        // References are released outside the lock: releasing the last one to a context takes the
        // lock again.
        contexts.withLock { $0.values.map(\.context) }.compactMap { $0 }
    }

    /// Their loads whose outcome is not taken yet.
    var loads: [Load] { present.flatMap(\.loads) }

    /// The pauses of their tasks between two loads.
    var pauses: [LoadPause] { present.flatMap(\.pauses) }
}
