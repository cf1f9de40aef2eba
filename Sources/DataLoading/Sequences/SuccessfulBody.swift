// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import Foundation

/// The body of one load, whose status must be 200 to 299.
///
/// Releasing it cancels the load.
struct SuccessfulBody: Sendable {
    /// The number of bytes of another response that are read for its error.
    private static let maxErrorBody = 65_536

    private let request: DataLoaderRequest
    private let reader: ChunkReader
    private var isChecked = false

    init(of request: DataLoaderRequest, core: LoaderCore) {
        var streamed = request
        streamed.chunks = true
        self.request = streamed
        reader = ChunkReader(request: streamed, core: core)
    }

    /// Returns the head of the response; throws `.status` with the body for a status that is no
    /// success.
    mutating func head() async throws -> DataLoaderResponse {
        let head = try await reader.response()
        guard let status = head.statusCode, !status.isSuccess else {
            isChecked = true
            return head
        }
        var body = Data()
        do {
            while body.count < Self.maxErrorBody, let chunk = try await reader.next() {
                body += chunk.prefix(Self.maxErrorBody - body.count)
            }
        } catch var error as DataLoaderError {
            error.keepBody(body)
            // What breaks the body of an error leaves its status.
            if error.isWholeResponse || error.comesFromOutside { throw error }
        }
        var error = DataLoaderError.status(status).ending(request, head.metrics)
        error.keepBody(body)
        throw error
    }

    /// Returns the next piece without leaving the caller's actor; nil after the last one.
    mutating func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
        if !isChecked { _ = try await head() }
        return try await reader.next(isolation: actor)
    }
}
