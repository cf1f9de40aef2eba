// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import Dispatch

/// A value that only the blocks of one serial queue access.
///
/// The queue guarantees exclusive access, so the value needs no lock. A blocking `InputStream` can
/// therefore be read without a lock held. Prefer `Locked` where it suffices.
package final class QueueIsolated<Value>: @unchecked Sendable, OpaquelyMirrored {
    private let queue: DispatchQueue
    private var value: Value

    package init(_ value: sending Value, label: String) {
        queue = DispatchQueue(label: label)
        self.value = value
    }

    /// Confines a value to a serial queue that has other users too.
    package init(_ value: sending Value, on queue: DispatchQueue) {
        self.queue = queue
        self.value = value
    }

    /// Runs a block with the value, after earlier blocks.
    package func async(_ body: @escaping @Sendable (inout Value) -> Void) {
        queue.async { body(&self.value) }
    }
}
