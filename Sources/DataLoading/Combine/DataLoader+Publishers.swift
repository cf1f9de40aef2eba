// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Combine)
    import DataLoadingTransport
    import Foundation

    /// Publishers of loads; each subscriber gets a load of its own.
    ///
    /// A publisher does not retain its loader. Dropping the loader cancels the loads of its
    /// publishers, which fail as `.cancelled`, and so does a subscription that comes later.
    extension DataLoader {
        /// Publishes the response of a request, whatever the status.
        ///
        /// It ignores `chunks` and publishes the whole body. It fails when there is no whole
        /// response.
        public func publisher(
            for request: DataLoaderRequest
        ) -> LoadPublisher<DataLoaderResponse, DataLoaderError> {
            publisher(loading: { () throws(DataLoaderError) in request }, { $0 })
        }

        /// Publishes the value of a request that has a URL of its own.
        ///
        /// It fails with `DataLoaderError`, or the error of the request's own function, which runs
        /// on the loader's delegate queue.
        public func publisher<Value>(
            for request: Request<Value>
        ) -> LoadPublisher<Value, any Error> {
            publisher(for: request) { try request.makeDataLoaderRequest() }
        }

        /// Publishes the body of a request piece by piece, as many pieces as are demanded.
        ///
        /// The load has no limit in total unless the request sets `timeout`.
        public func chunkPublisher(for request: DataLoaderRequest) -> ChunkPublisher {
            var streamed = request
            streamed.chunks = true
            return ChunkPublisher(request: streamed, loader: self)
        }

        /// Publishes the value of a request that `make` has made whole.
        func publisher<Value>(
            for request: Request<Value>,
            made make: @escaping @Sendable () throws -> DataLoaderRequest
        ) -> LoadPublisher<Value, any Error> {
            publisher(loading: make) { outcome in
                Result { try request.value(from: outcome.get()) }
            }
        }

        /// Makes a publisher of what `convert` returns for the load of the request that `make`
        /// returns.
        private func publisher<Output: Sendable, Failure: Error>(
            loading make: @escaping @Sendable () throws(Failure) -> DataLoaderRequest,
            _ convert:
                @escaping @Sendable (
                    Result<DataLoaderResponse, DataLoaderError>
                ) -> Result<Output, Failure>
        ) -> LoadPublisher<Output, Failure> {
            LoadPublisher { [weak self, queue] receive in
                var whole: DataLoaderRequest
                do throws(Failure) {
                    whole = try make()
                } catch {
                    queue.async { receive(.failure(error)) }
                    return {}
                }
                guard let self else {
                    let error = DataLoaderError.cancelled.ending(whole)
                    queue.async { receive(convert(.failure(error))) }
                    return {}
                }
                whole.chunks = false
                let end = OutcomeEnd(queue: queue) { receive(convert($0)) }
                let token = core.start(whole, end).token
                return { token.cancel() }
            }
        }
    }
#endif
