// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A value that is accessible only while its lock is held.
///
/// It has `Mutex`'s signature on the system's own lock. `Mutex` hands over contended locks inside
/// the uninstrumented runtime, where the thread sanitizer reports false races. Copies share the
/// value. Never call a user's code inside `withLock`. Do not store a bare closure: every access
/// re-wraps it. Put it in a struct.
///
/// Public, though no product offers it, as other small things of this target: the compiler inlines
/// and specialises only what is public in another target. A load took 10% more processor time.
public struct Locked<Value>: @unchecked Sendable, OpaquelyMirrored {
    /// Value and lock in one allocation, because a load makes several of these.
    @usableFromInline final class Storage: ManagedBuffer<Value, pthread_mutex_t> {
        @inlinable deinit {
            _ = withUnsafeMutablePointerToElements(pthread_mutex_destroy)
        }
    }

    @usableFromInline nonisolated(unsafe) let storage: ManagedBuffer<Value, pthread_mutex_t>

    /// Makes a lock for a value.
    @inlinable public init(_ value: sending Value) {
        storage = Storage.create(minimumCapacity: 1) { storage in
            _ = storage.withUnsafeMutablePointerToElements { pthread_mutex_init($0, nil) }
            return value
        }
    }

    /// Calls `body` with the value, under the lock.
    @inlinable public func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        _ = storage.withUnsafeMutablePointerToElements(pthread_mutex_lock)
        defer { _ = storage.withUnsafeMutablePointerToElements(pthread_mutex_unlock) }
        // By address: the lock ensures exclusive access, so the check that `header` adds is not
        // needed.
        let value = storage.withUnsafeMutablePointerToHeader { $0 }
        return try body(&value.pointee)
    }
}

extension Locked where Value == Int64 {
    /// The next number of a series; the first one is the initial value and one.
    @inlinable public func next() -> Int64 {
        withLock { last in
            last &+= 1
            return last
        }
    }
}

extension Locked where Value == Int {
    /// Adds to a number; returns the sum.
    ///
    /// `Atomic` would do the same, but not before macOS 15 and iOS 18.
    @inlinable @discardableResult public func add(_ change: Int) -> Int {
        withLock { number in
            number &+= change
            return number
        }
    }
}
