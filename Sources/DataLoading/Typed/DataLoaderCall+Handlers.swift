// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension DataLoaderCall {
    /// Passes the response to a handler after the validators.
    @discardableResult public func response(
        _ handler: @escaping @Sendable (CallResponse<DataLoaderResponse>) -> Void
    ) -> Self {
        responseSerializable(serializer: WholeResponse(), handler)
    }

    /// Passes the body to a handler.
    @discardableResult public func responseData(
        _ handler: @escaping @Sendable (CallResponse<Data>) -> Void
    ) -> Self {
        responseSerializable(serializer: DataSerializer(), handler)
    }

    /// Decodes the body, from JSON by default, and passes the value to a handler.
    @discardableResult public func responseDecodable<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, decoder: any ResponseDecoder = JSONDecoder(),
        _ handler: @escaping @Sendable (CallResponse<Value>) -> Void
    ) -> Self {
        responseSerializable(serializer: DecodableSerializer(decoder: decoder), handler)
    }

    /// Decodes the body as JSON of any form and passes the value to a handler.
    @discardableResult public func responseJSON(
        _ handler: @escaping @Sendable (CallResponse<JSONValue>) -> Void
    ) -> Self {
        responseDecodable(JSONValue.self, handler)
    }

    /// Serializes the response and passes the value to a handler.
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
    /// Returns the response after the validators; cancelling the task cancels the load.
    ///
    /// - Throws: `DataLoaderError`, or the error of a validator.
    public func response() async throws -> DataLoaderResponse {
        try await serialized(by: WholeResponse())
    }

    /// Returns the body; cancelling the task cancels the load.
    ///
    /// - Throws: `DataLoaderError`, or the error of a validator.
    public func responseData() async throws -> Data {
        try await serialized(by: DataSerializer())
    }

    /// Returns the decoded body, from JSON by default; cancelling the task cancels the load.
    ///
    /// - Throws: `DataLoaderError`, which is `.undecodable` for an error of the decoder, or the
    ///   error of a validator.
    public func responseDecodable<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, decoder: any ResponseDecoder = JSONDecoder()
    ) async throws -> Value {
        try await serialized(by: DecodableSerializer(decoder: decoder))
    }

    /// Returns the body as JSON of any form; cancelling the task cancels the load.
    ///
    /// - Throws: `DataLoaderError`, which is `.undecodable` for a body that is no JSON, or the
    ///   error of a validator.
    public func responseJSON() async throws -> JSONValue {
        try await responseDecodable(JSONValue.self)
    }

    /// Returns the value that a serializer makes; cancelling the task cancels the load.
    ///
    /// - Throws: `DataLoaderError`, or the error of a validator or the serializer.
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
