// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A value that can only be touched while its lock is held: the only lock of the package.
///
/// It has `Mutex`'s signature on `NSLock`, because `Mutex` hands over contended locks inside the
/// uninstrumented runtime, where the thread sanitizer reports races that are none.
/// Never call a user's code inside `withLock`.
package final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    package init(_ value: sending Value) {
        self.value = value
    }

    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
