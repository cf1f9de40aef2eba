// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import Dispatch
import DataLoadingSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The calls of users' code that a transport's thread makes between two rounds of its loop, where no
/// step of the loop is under way.
///
/// Only the thread that runs the loop uses it.
package final class RoundCalls {
    package typealias Call = @Sendable () -> Void

    /// Where the calling thread keeps its own; nil when the process can have no more keys.
    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, nil) == 0 ? key : nil
    }()

    /// Those of the calling thread; nil where it runs no loop, and while a call is made.
    package static var current: RoundCalls? {
        guard let key, let context = pthread_getspecific(key) else { return nil }
        let calls = Unmanaged<RoundCalls>.fromOpaque(context).takeUnretainedValue()
        return calls.hasFollower ? calls : nil
    }

    /// Starts the follower, the thread that runs the loop when a call blocks; false when there can be
    /// none.
    package var recruit: (() -> Bool)?
    private var isFollowed = false

    @exclusivity(unchecked) private var waiting = FIFO<(queue: DispatchQueue, call: Call)>()

    package init() {}

    /// Whether there is a follower, should a call block; it is started now if it is not there.
    package var hasFollower: Bool {
        if !isFollowed { isFollowed = recruit?() ?? false }
        return isFollowed
    }

    /// Notes that the follower runs the loop now, and needs another one for its own calls.
    package func followerLeads() { isFollowed = false }

    package var isEmpty: Bool { waiting.isEmpty }

    /// Makes the calling thread the one that makes the calls.
    package func enter() { Self.set(self) }

    /// Ends that: what the calling thread does now is no step of a loop.
    package func leave() { Self.set(nil) }

    private static func set(_ calls: RoundCalls?) {
        guard let key else { return }
        pthread_setspecific(key, calls.map { Unmanaged.passUnretained($0).toOpaque() })
    }

    /// Adds a call, and the queue on which it is made where no thread of the loop can.
    package func add(on queue: DispatchQueue, _ call: @escaping Call) {
        waiting.append((queue, call))
    }

    package func popFirst() -> Call? { waiting.popFirst()?.call }

    /// Makes the waiting calls on their queues.
    package func makeElsewhere() {
        while let (queue, call) = waiting.popFirst() { queue.async(execute: call) }
    }
}
