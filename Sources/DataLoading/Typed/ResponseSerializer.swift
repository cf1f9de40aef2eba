// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Makes a value from a whole response of any status; called on the loader's delegate queue.
public protocol ResponseSerializer: Sendable {
    /// The type of the value.
    associatedtype Output: Sendable
    /// Returns the value, or throws an error to reject the response.
    func serialize(_ response: DataLoaderResponse) throws -> Output
}

/// Decodes values from bytes, as `JSONDecoder` and `PropertyListDecoder` do.
public protocol ResponseDecoder: Sendable {
    /// Decodes a value of the type from bytes.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONDecoder: ResponseDecoder {}
extension PropertyListDecoder: ResponseDecoder {}

/// Returns the body unchanged, or empty data for a response without a body.
public struct DataSerializer: ResponseSerializer {
    /// Makes a serializer.
    public init() {}

    /// Returns the body.
    public func serialize(_ response: DataLoaderResponse) throws -> Data {
        response.body ?? Data()
    }
}

/// Decodes a value from the body of a response.
public struct DecodableSerializer<Output: Decodable & Sendable>: ResponseSerializer {
    private let decoder: any ResponseDecoder

    /// Makes a serializer.
    public init(_ type: Output.Type = Output.self, decoder: any ResponseDecoder = JSONDecoder()) {
        self.decoder = decoder
    }

    /// Returns the decoded body.
    public func serialize(_ response: DataLoaderResponse) throws -> Output {
        try decoder.decode(Output.self, from: response.body ?? Data())
    }
}
