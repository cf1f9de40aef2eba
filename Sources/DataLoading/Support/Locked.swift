// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A value that can only be touched while its lock is held.
///
/// It has `Mutex`'s signature on the system's own lock, because `Mutex` hands over contended locks
/// inside the uninstrumented runtime, where the thread sanitizer reports races that are none.
/// Copies share the value. Never call a user's code inside `withLock`. The value should not be a bare
/// closure that is looked at often: each access wraps it once more. Put it in a struct.
package struct Locked<Value>: @unchecked Sendable {
    /// Value and lock in one allocation: a load makes several of these.
    private final class Storage: ManagedBuffer<Value, pthread_mutex_t> {
        deinit {
            _ = withUnsafeMutablePointerToElements(pthread_mutex_destroy)
        }
    }

    private nonisolated(unsafe) let storage: ManagedBuffer<Value, pthread_mutex_t>

    package init(_ value: sending Value) {
        storage = Storage.create(minimumCapacity: 1) { storage in
            _ = storage.withUnsafeMutablePointerToElements { pthread_mutex_init($0, nil) }
            return value
        }
    }

    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        _ = storage.withUnsafeMutablePointerToElements(pthread_mutex_lock)
        defer { _ = storage.withUnsafeMutablePointerToElements(pthread_mutex_unlock) }
        // By its address: the lock is proof enough of exclusion, which `header` has tracked as well.
        let value = storage.withUnsafeMutablePointerToHeader { $0 }
        return try body(&value.pointee)
    }
}
