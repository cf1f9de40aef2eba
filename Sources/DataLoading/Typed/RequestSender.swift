// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Sends requests and returns their values; a `Connection`, or a test's replacement for one.
///
/// Code that takes `any RequestSender` from outside can be tested without a network. A replacement
/// makes a `DataLoaderResponse` and returns `request.value(from: response)`.
public protocol RequestSender: Sendable {
    /// Sends a request and returns the value of its response.
    ///
    /// Cancelling the task cancels the load.
    ///
    /// - Throws: `DataLoaderError`, or the error of the request's own function.
    func send<Value>(_ request: Request<Value>) async throws -> Value
}
