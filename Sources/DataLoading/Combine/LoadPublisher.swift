// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Combine)
    public import Combine

    /// Loads once for each subscriber, and publishes the value or the error.
    ///
    /// A load starts when its subscriber first demands a value, not before. Its value, or its error,
    /// comes on the loader's delegate queue; `receive(on:)` moves it to another one. Cancelling the
    /// subscription cancels the load, and nothing comes after that.
    ///
    /// A load that the library ends, because its loader is dropped or its service is reset or shut
    /// down, fails as others do. No subscriber waits for ever.
    public struct LoadPublisher<Output: Sendable, Failure: Error>: Publisher, Sendable {
        /// Starts a load that gives its outcome, once and later; returns what cancels the load.
        typealias Start =
            @Sendable (
                @escaping @Sendable (Result<Output, Failure>) -> Void
            ) -> @Sendable () -> Void

        let start: Start

        /// The values and the errors as results, so that an error ends no pipeline.
        public var results: LoadPublisher<Result<Output, Failure>, Never> {
            LoadPublisher<Result<Output, Failure>, Never> { [start] receive in
                start { receive(.success($0)) }
            }
        }

        /// Gives a subscriber a subscription of its own.
        public func receive<Reader: Subscriber>(subscriber: Reader)
        where Reader.Input == Output, Reader.Failure == Failure {
            let subscription = LoadSubscription(Downstream(subscriber), start)
            subscriber.receive(subscription: subscription)
        }
    }
#endif
