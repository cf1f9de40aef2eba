// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What a handler of a `DataLoaderCall` hears.
public struct CallResponse<Value: Sendable>: Sendable {
    /// What became of the load.
    public let response: DataLoaderResponse
    /// The value, or why there is none: the load, a validator or the serializer failed.
    public let result: Result<Value, any Error>

    /// The request that was performed.
    public var request: DataLoaderRequest { response.request }
    /// The value, nil when there is none.
    public var value: Value? { try? result.get() }
    /// Why there is no value, nil when there is one.
    public var error: (any Error)? {
        if case .failure(let error) = result { return error }
        return nil
    }
}

extension CallResponse: CustomStringConvertible {
    /// The response's description; never the value.
    public var description: String { response.description }
}
