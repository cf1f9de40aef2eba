// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation

/// An interceptor made of a closure.
struct Intercept: Interceptor {
    typealias Body =
        @Sendable (DataLoaderRequest, @escaping NextLoad) async throws -> DataLoaderResponse
    private let body: Body

    init(_ body: @escaping Body) {
        self.body = body
    }

    func intercept(
        _ request: DataLoaderRequest, next: @escaping NextLoad
    ) async throws -> DataLoaderResponse {
        try await body(request, next)
    }
}

/// An interceptor that passes every request on, and records it.
struct PassOn: Interceptor {
    let requests = EventRecorder<DataLoaderRequest>()

    func intercept(
        _ request: DataLoaderRequest, next: NextLoad
    ) async throws -> DataLoaderResponse {
        requests.record(request)
        return try await next(request)
    }
}

/// An interceptor that waits until the test lets it go, cancelled or not.
struct HoldOn: Interceptor {
    let asked = EventRecorder<Void>()
    private let release = EventRecorder<Void>()
    /// The results of `next` that came after the wait.
    let results = EventRecorder<Result<DataLoaderResponse, any Error>>()

    /// Lets all calls continue, those to come included.
    func letGo() { release.record(()) }

    func intercept(
        _ request: DataLoaderRequest, next: NextLoad
    ) async throws -> DataLoaderResponse {
        asked.record(())
        _ = await release.first(1)
        do {
            let response = try await next(request)
            results.record(.success(response))
            return response
        } catch {
            results.record(.failure(error))
            throw error
        }
    }
}

extension DataLoaderResponse {
    /// An answer of an interceptor.
    static func made(
        for request: DataLoaderRequest, status: Int = 200, body: Data? = nil
    ) -> DataLoaderResponse {
        DataLoaderResponse(
            request: request, statusCode: HTTPStatus(rawValue: status), headers: ["X-Made": "1"],
            body: body)
    }
}
