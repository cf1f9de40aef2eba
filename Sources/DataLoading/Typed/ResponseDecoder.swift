// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Decodes values of any type from the bytes of one format.
///
/// `JSONDecoder` and `PropertyListDecoder` are such decoders. A decoder of another format needs an
/// empty conformance if it has the method already. Several threads may call the method at once.
public protocol ResponseDecoder: Sendable {
    /// Returns the value, or throws an error when the bytes are no such value.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONDecoder: ResponseDecoder {}

extension PropertyListDecoder: ResponseDecoder {}
