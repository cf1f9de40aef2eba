// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
public import Foundation

extension DataLoaderResponse {
    /// Throws for a status that is not among the given codes; default 200 to 299.
    ///
    /// A response without a status passes.
    ///
    /// - Throws: `DataLoaderError.status`, with the body of the response.
    public func validateStatusCode(in codes: some Sequence<Int> = 200..<300) throws {
        guard let statusCode, !codes.contains(statusCode.rawValue) else { return }
        throw statusError(statusCode)
    }

    /// Decodes the body, whatever the status; a response without a body has empty data.
    ///
    /// - Throws: `DataLoaderError.undecodable`, whose `underlyingError` is the decoder's.
    public func decoded<Value: Decodable>(
        as type: Value.Type = Value.self, using decoder: any ResponseDecoder = JSONDecoder()
    ) throws -> Value {
        do {
            return try decoder.decode(Value.self, from: body ?? Data())
        } catch {
            throw undecodable(because: error)
        }
    }

    /// The error of a body that a decoder refused, with the context of the load.
    func undecodable(because error: any Error) -> DataLoaderError {
        let reason = (error as? DecodingError)?.safeReason ?? "\(type(of: error))"
        var refusal = DataLoaderError(
            .undecodable(status: statusCode, reason: reason), underlyingError: error
        ).ending(request, metrics)
        refusal.keepBody(body)
        return refusal
    }
}
