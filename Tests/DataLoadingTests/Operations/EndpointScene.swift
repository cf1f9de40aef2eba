// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
@testable import DataLoadingOperations
import DataLoadingSupport
import DataLoadingTesting
import Foundation

/// A daemon with an endpoint on a free port, and clients of it.
final class EndpointScene {
    static let token = "0123456789abcdef0123456789abcdef"

    let operations: Operations
    let service: DataLoaderService
    let port: UInt16

    init(
        timekeeper: any Timekeeper = SystemTimekeeper(),
        _ configure: (inout OperationsEndpoint) -> Void = { _ in }
    ) throws {
        var configuration = DataLoaderService.Configuration()
        configuration.transport = ScriptedTransport(otherwise: .respond(status: 200))
        configuration.rateLimiter.setRequestsPerSecond(
            1_000, burst: 100, forHostOf: testURL("https://api.test/"))
        var settings = OperationsConfiguration(environment: [:])
        var endpoint = OperationsEndpoint.loopback(port: 0, token: Self.token)
        configure(&endpoint)
        settings.endpoint = endpoint
        operations = Operations(
            settings, instrumenting: &configuration, timekeeper: timekeeper)
        service = DataLoaderService(configuration: configuration)
        try operations.start(for: service)
        port = operations.endpointURL?.port.flatMap { UInt16($0) } ?? 0
    }

    /// The bytes of a GET with the token.
    func get(
        _ path: String, method: String = "GET", host: String? = nil, token: String? = token,
        fields: String = ""
    ) -> String {
        let authorization = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        return "\(method) \(path) HTTP/1.1\r\nHost: \(host ?? "127.0.0.1:\(port)")\r\n"
            + authorization + fields + "\r\n"
    }

    /// The response to one request on a connection of its own.
    func response(_ text: String) throws -> RawResponse {
        let client = try RawClient(port: port)
        try client.send(text)
        return try client.response()
    }

    /// The status and the text of a response, had without blocking a thread that health checks need.
    func load(_ path: String) async throws -> (status: Int?, text: String) {
        let loader = DataLoaderService().makeFactory().makeDataLoader()
        let request = DataLoaderRequest(url: testURL("http://127.0.0.1:\(port)\(path)"))
        let response = try await loader.response(for: request)
        return (
            response.statusCode?.rawValue, String(decoding: response.body ?? Data(), as: UTF8.self)
        )
    }
}
