// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

extension DataLoader {
    /// Loads a request that has a URL of its own, and returns the value of the response.
    ///
    /// Cancelling the task cancels the load. A request for an endpoint needs a `Connection`, which
    /// knows the base URL.
    ///
    /// - Throws: `DataLoaderError`, or the error of the request's own function.
    public func value<Value>(for request: Request<Value>) async throws -> Value {
        try await value(of: request, loading: request.makeDataLoaderRequest())
    }

    /// Loads what a request has become.
    func value<Value>(
        of request: Request<Value>, loading whole: DataLoaderRequest
    ) async throws -> Value {
        try await Self.value(of: request, from: response(for: whole))
    }

    /// Decodes off the actor of the caller, which may be the main actor.
    @concurrent private static func value<Value>(
        of request: Request<Value>, from response: DataLoaderResponse
    ) async throws -> Value {
        try request.value(from: response)
    }
}
