// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Combine)
    public import Combine
    import Dispatch
    public import Foundation

    /// Publishes a response body piece by piece, as many pieces as its subscriber demands.
    ///
    /// Each subscriber gets a load of its own, which starts when the subscriber first demands a
    /// piece. Reading from the server pauses while 256 KiB are not demanded. Pieces differ in size,
    /// are never empty, and come in order on the loader's delegate queue. `receive(on:)` moves them
    /// to another queue, and demands without limit.
    ///
    /// With a status that is not 200 to 299 it publishes no piece and fails with
    /// `DataLoaderError.status`, which has up to 64 KiB of the body. It fails too when the body
    /// breaks off, and when the library ends the load because its loader is dropped or its service
    /// is reset or shut down. Cancelling the subscription cancels the load, and nothing comes after
    /// that.
    public struct ChunkPublisher: Publisher, Sendable {
        /// A piece of the decoded body; never empty.
        public typealias Output = Data
        /// Why the body is not whole.
        public typealias Failure = DataLoaderError

        private let request: DataLoaderRequest
        private weak let loader: DataLoader?
        private let queue: DispatchQueue

        init(request: DataLoaderRequest, loader: DataLoader) {
            self.request = request
            self.loader = loader
            queue = loader.queue
        }

        /// Gives a subscriber a subscription of its own.
        public func receive<Reader: Subscriber>(subscriber: Reader)
        where Reader.Input == Data, Reader.Failure == DataLoaderError {
            let subscription = ChunkSubscription(
                Downstream(subscriber), to: request, of: loader, queue: queue)
            subscriber.receive(subscription: subscription)
        }
    }
#endif
