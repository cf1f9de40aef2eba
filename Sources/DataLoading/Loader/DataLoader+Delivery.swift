// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension DataLoader {
    /// Where a loader calls its delegate; one call at a time in each case.
    ///
    /// A child that is forked in a call must end, or call exec, before it returns from it.
    public enum Delivery: Hashable, Sendable {
        /// On the delegate queue, if one is given; without one where a call costs least.
        ///
        /// The outcome of a load of `perform` that the transport has ended is then delivered on the
        /// transport's thread, after the step that ended it, so that no thread is woken. A delegate
        /// may block all the same: when a call lasts longer than 1 to 2 ms, another thread runs the
        /// transport instead. A delegate whose calls take more than 40 µs on average is called on a
        /// private serial queue for 100 ms, and for up to 10 s when that happens again and again.
        /// Every other call comes on that queue too, such as one with a chunk or an outcome that was
        /// decided elsewhere. So do the calls that are left when the thread has made others for 1 ms,
        /// and all of them while calls block 16 threads of the transport's loop.
        ///
        /// A load costs about 30 µs of processor time less where one runs at a time, and 4 to 6 less
        /// where many do (measured on two cores). Handlers of progress come on the private queue, and
        /// may run at the same time as the outcome of another load.
        case automatic
        /// On the delegate queue; without one, on a private serial queue.
        case queue
        /// On the thread of the transport that has ended the load, without a change of threads.
        ///
        /// What is decided elsewhere comes on the delegate queue, or a private one: the outcome of a
        /// load that is refused, cancelled, reset, answered from the cache or out of time, and that of
        /// one that is judged by a policy or written to a sink. While the delegate makes loads in such
        /// a call, their outcomes follow when the call returns.
        ///
        /// Use it for a delegate that only notes a result or performs the next load. **It must not
        /// block**: while a call runs, no load on the same thread of the transport receives a byte,
        /// with one thread none of the service, and shutting the service down waits. Deadlines pass
        /// all the same, on other threads.
        case direct
    }
}
