// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Combine)
    extension Connection {
        /// Publishes the value of a request; each subscriber gets a load of its own.
        ///
        /// As the connection does, the publisher retains the loader, and so do its loads. It fails
        /// with `DataLoaderError`, or the error of the request's own function, which runs on the
        /// loader's delegate queue.
        public func publisher<Value>(
            for request: Request<Value>
        ) -> LoadPublisher<Value, any Error> {
            let publisher = loader.publisher(for: request) { try complete(request) }
            return LoadPublisher { [loader] receive in
                let cancel = publisher.start(receive)
                return { withExtendedLifetime(loader) { cancel() } }
            }
        }
    }
#endif
