// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Combine)
    import Combine

    /// A subscriber, as the load that it waits for holds it.
    struct Downstream<Output: Sendable, Failure: Error>: Sendable {
        /// Gives a value, and returns how many more are wanted.
        let receive: @Sendable (Output) -> Subscribers.Demand
        /// Ends the subscription.
        let complete: @Sendable (Subscribers.Completion<Failure>) -> Void

        init(_ subscriber: any Subscriber<Output, Failure>) {
            // Combine marks no subscriber as Sendable. Its contract is that a publisher may call one on
            // any thread, one call at a time.
            nonisolated(unsafe) let subscriber = subscriber
            receive = { subscriber.receive($0) }
            complete = { subscriber.receive(completion: $0) }
        }
    }
#endif
