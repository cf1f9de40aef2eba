// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension DataLoaderCall {
    /// Hands over the response once it passed the validators.
    @discardableResult public func response(
        _ handler: @escaping @Sendable (CallResponse<DataLoaderResponse>) -> Void
    ) -> Self {
        responseSerializable(serializer: WholeResponse(), handler)
    }

    /// Hands over the body.
    @discardableResult public func responseData(
        _ handler: @escaping @Sendable (CallResponse<Data>) -> Void
    ) -> Self {
        responseSerializable(serializer: DataSerializer(), handler)
    }

    /// Hands over what a decoder makes of the body.
    @discardableResult public func responseDecodable<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, decoder: any ResponseDecoder = JSONDecoder(),
        _ handler: @escaping @Sendable (CallResponse<Value>) -> Void
    ) -> Self {
        responseSerializable(serializer: DecodableSerializer(type, decoder: decoder), handler)
    }

    /// Hands over the body as JSON.
    @discardableResult public func responseJSON(
        _ handler: @escaping @Sendable (CallResponse<JSONValue>) -> Void
    ) -> Self {
        responseDecodable(JSONValue.self, handler)
    }

    /// Hands over what a serializer makes of the response.
    @discardableResult public func responseSerializable<Serializer: ResponseSerializer>(
        serializer: Serializer,
        _ handler: @escaping @Sendable (CallResponse<Serializer.Output>) -> Void
    ) -> Self {
        core.attach { response, error in
            let result = Result {
                if let error { throw error }
                return try serializer.serialize(response)
            }
            handler(CallResponse(response: response, result: result))
        }
        return self
    }
}

extension DataLoaderCall {
    /// Returns the response once it passed the validators; cancelling the task cancels the load.
    ///
    /// - Throws: `DataLoaderError`, or what a validator threw.
    public func response() async throws -> DataLoaderResponse {
        try await serialized(by: WholeResponse())
    }

    /// Returns the body; cancelling the task cancels the load.
    ///
    /// - Throws: `DataLoaderError`, or what a validator threw.
    public func responseData() async throws -> Data {
        try await serialized(by: DataSerializer())
    }

    /// Returns what a decoder makes of the body; cancelling the task cancels the load.
    ///
    /// - Throws: `DataLoaderError`, or what a validator or the decoder threw.
    public func responseDecodable<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, decoder: any ResponseDecoder = JSONDecoder()
    ) async throws -> Value {
        try await serialized(by: DecodableSerializer(type, decoder: decoder))
    }

    /// Returns what a serializer makes of the response; cancelling the task cancels the load.
    ///
    /// - Throws: `DataLoaderError`, or what a validator or the serializer threw.
    public func serialized<Serializer: ResponseSerializer>(
        by serializer: Serializer
    ) async throws -> Serializer.Output {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                responseSerializable(serializer: serializer) {
                    continuation.resume(with: $0.result)
                }
            }
        } onCancel: {
            cancel()
        }
    }
}

/// Returns the response as it is.
private struct WholeResponse: ResponseSerializer {
    func serialize(_ response: DataLoaderResponse) throws -> DataLoaderResponse { response }
}
