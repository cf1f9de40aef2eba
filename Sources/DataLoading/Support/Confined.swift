// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// A value that is touched by the blocks of one serial queue and by nothing else.
///
/// The queue is the proof of exclusion, so the value needs no lock; that is what lets a blocking
/// `InputStream` be read without holding one. Reach for `Locked` first.
final class Confined<Value>: @unchecked Sendable {
    private let queue: DispatchQueue
    private var value: Value

    init(_ value: sending Value, label: String) {
        queue = DispatchQueue(label: label)
        self.value = value
    }

    /// Runs a block with the value, after those before it.
    func async(_ body: @escaping @Sendable (inout Value) -> Void) {
        queue.async { body(&self.value) }
    }
}
