// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension DataLoader {
    /// Where a loader calls its delegate; one call at a time in each case.
    public enum Delivery: Hashable, Sendable {
        /// On the delegate queue.
        case queue
        /// On the thread of the transport that has ended the load, without a change of threads.
        ///
        /// What is decided elsewhere comes on the delegate queue: the outcome of a load that is
        /// refused, cancelled, reset, answered from the cache or out of time, and that of one that is
        /// judged by a policy or written to a sink. While the delegate makes loads in such a call,
        /// their outcomes follow when the call returns.
        ///
        /// Use it for a delegate that only notes a result or performs the next load. **It must not
        /// block**: while a call runs, no load on the same thread of the transport receives a byte,
        /// with one thread none of the service, and shutting the service down waits. Deadlines pass
        /// all the same, on other threads.
        case direct
    }
}
