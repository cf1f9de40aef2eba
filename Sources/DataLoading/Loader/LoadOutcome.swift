// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingSupport
public import DataLoadingTransport

/// The outcome of one load that `perform` started.
public struct LoadOutcome: Sendable, OpaquelyMirrored {
    /// The response, or the request with the error that ended the load.
    public let response: DataLoaderResponse
    /// The token that `perform` returned for the load; compare it with `===`.
    public let token: CancellationToken

    /// The request as it was performed.
    public var request: DataLoaderRequest { response.request }

    /// The response of a success, or the error; `.cancelled` for a load that was cancelled.
    public var result: Result<DataLoaderResponse, DataLoaderError> {
        response.error.map { .failure($0) } ?? .success(response)
    }
}

extension LoadOutcome: CustomStringConvertible {
    /// The description of the response.
    public var description: String { response.description }
}
