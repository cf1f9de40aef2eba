// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Combine)
    public import Foundation

    /// Publishers of a call; its first demand starts the call, which has one load.
    ///
    /// All subscribers get the outcome of that load, also those that come after its end. Cancelling
    /// a subscription cancels the call, as cancelling an awaiting task does. A publisher fails with
    /// `DataLoaderError`, or the error of a validator or serializer.
    extension DataLoaderCall {
        /// Publishes the response after the validators.
        public func publisher() -> LoadPublisher<DataLoaderResponse, any Error> {
            publisher(serializedBy: WholeResponse())
        }

        /// Publishes the decoded body, from JSON by default.
        public func publisher<Value: Decodable & Sendable>(
            decoding type: Value.Type, decoder: any ResponseDecoder = JSONDecoder()
        ) -> LoadPublisher<Value, any Error> {
            publisher(serializedBy: DecodableSerializer(decoder: decoder))
        }

        /// Publishes the value that a serializer makes.
        public func publisher<Serializer: ResponseSerializer>(
            serializedBy serializer: Serializer
        ) -> LoadPublisher<Serializer.Output, any Error> {
            LoadPublisher { receive in
                self.responseSerializable(serializer: serializer) { receive($0.result) }
                return { self.cancel() }
            }
        }
    }
#endif
