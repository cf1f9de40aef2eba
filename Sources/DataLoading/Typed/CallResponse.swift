// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingSupport

/// The result that a handler of a `DataLoaderCall` receives.
public struct CallResponse<Value: Sendable>: Sendable, OpaquelyMirrored {
    /// The response of the load.
    public let response: DataLoaderResponse
    /// The value, or the error of the load, a validator or the serializer.
    public let result: Result<Value, any Error>

    /// The value; nil when there is none.
    public var value: Value? { try? result.get() }
    /// The error; nil when there is a value.
    public var error: (any Error)? {
        if case .failure(let error) = result { return error }
        return nil
    }
}

extension CallResponse: CustomStringConvertible {
    /// The description of the response, without the value.
    public var description: String { response.description }
}
