// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Makes a value from a whole response of any status; called on the loader's delegate queue.
public protocol ResponseSerializer: Sendable {
    /// The type of the value.
    associatedtype Output: Sendable
    /// Returns the value, or throws an error to reject the response.
    func serialize(_ response: DataLoaderResponse) throws -> Output
}

/// Returns the response unchanged.
struct WholeResponse: ResponseSerializer {
    func serialize(_ response: DataLoaderResponse) throws -> DataLoaderResponse { response }
}

/// Returns the body unchanged, or empty data for a response without a body.
struct DataSerializer: ResponseSerializer {
    func serialize(_ response: DataLoaderResponse) throws -> Data {
        response.body ?? Data()
    }
}

/// Decodes a value from a body.
struct DecodableSerializer<Output: Decodable & Sendable>: ResponseSerializer {
    let decoder: any ResponseDecoder

    func serialize(_ response: DataLoaderResponse) throws -> Output {
        try response.decoded(using: decoder)
    }
}
