// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// An interceptor of another package, with the type of the closure written out.
private struct AddsVersion: Interceptor {
    func intercept(
        _ request: DataLoaderRequest,
        next: (DataLoaderRequest) async throws -> DataLoaderResponse
    ) async throws -> DataLoaderResponse {
        var request = request
        request.headers["X-Client-Version"] = "2.1"
        return try await next(request)
    }
}

private struct Person: Decodable {
    let name: String
}

extension Request where Value == Person {
    fileprivate static func person(_ number: Int) -> Request<Person> {
        Request(Endpoint("people", "\(number)"))
    }
}

/// The systems above and beside a load.
func useSystems(_ url: URL, _ directory: URL) async throws {
    var configuration = DataLoaderService.Configuration()
    configuration.cache = try .disk(at: directory)
    configuration.transport = ThrottledTransport(EchoTransport(), maximumInFlight: 4)
    let service = DataLoaderService(configuration: configuration)
    let factory = service.makeFactory(
        authorisers: [], interceptors: [AddsVersion()], cachePartition: "client")
    let loader = factory.makeDataLoader()
    var request = DataLoaderRequest(url: url)
    request.coalescing = .sameRequest
    request.responseSink = .file(
        directory.appendingPathComponent("a"), resumesAcrossRestarts: true, sha256: nil)
    let response = try await loader.response(for: request)
    print(response.metrics.source, response.metrics.cacheStatus as Any)
    for try await line in loader.lines(for: request) { print(line) }
    for try await event in loader.events(for: request) { print(event.data) }
    let person = try await Connection(baseURL: url, loader: loader).send(.person(42))
    print(person.name)
}
