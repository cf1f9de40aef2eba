// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingAuth
import DataLoadingOperations
import DataLoadingTesting
import Foundation
import Testing

// The samples of the article about operating a daemon, and of what belongs to it.

/// What a daemon reads from its file.
private struct Settings {
    let limits: [RateLimiter.Setting]
    let addresses: [String: [String]]
    let token: String
}

@Suite struct OperationsSamples {
    @Test func `operations start with a service and end with it`() async throws {
        let api = testURL("https://api.test/")
        let directory = TemporaryDirectory()
        let path = directory.url("access.log").path
        var configuration = DataLoaderService.Configuration()
        configuration.rateLimiter.setRequestsPerSecond(5, forHostOf: api)
        var settings = OperationsConfiguration()
        settings.serviceVersion = "1.4"
        settings.log = AccessLog(.json, to: .file(path))
        let operations = Operations(settings, instrumenting: &configuration)
        let service = DataLoaderService(configuration: configuration)
        try operations.start(for: service)
        let text = operations.exposition(accepting: "text/plain")
        #expect(text.contentType.hasPrefix("text/plain; version=0.0.4"))
        let token = StaticTokenAuthoriser(token: "old", hosts: ["api.test"])
        let new = Settings(
            limits: [.host(of: api, requestsPerSecond: 9)], addresses: [:], token: "new")
        try reload(operations, service, token) { new }
        #expect(service.rateLimiter.requestsPerSecond(for: api) == 9)
        await operations.shutDown(gracePeriod: .seconds(5))
    }

    @Test func `a daemon shows itself to its operators`() async throws {
        let path = TemporaryDirectory().url("operations.sock").path
        var settings = OperationsConfiguration()
        settings.endpoint = .unixSocket("/run/feeds/operations.sock")
        #expect(settings.endpoint?.servesDashboard == false)
        settings.endpoint = .unixSocket(path)
        var endpoint = OperationsEndpoint.loopback(port: 0, token: OperationsEndpoint.makeToken())
        endpoint.servesDashboard = true
        settings.endpoint = endpoint
        var configuration = DataLoaderService.Configuration()
        let operations = Operations(settings, instrumenting: &configuration)
        try operations.start(for: DataLoaderService(configuration: configuration))
        if let url = operations.endpointURL { print("operations: \(url.absoluteString)") }
        #expect(operations.endpointURL?.fragment?.hasPrefix("token=") == true)
        await operations.shutDown(gracePeriod: .zero)
    }

    private func reload(
        _ operations: Operations, _ service: DataLoaderService, _ token: StaticTokenAuthoriser,
        _ read: () throws -> Settings
    ) throws {
        try operations.reload {
            let new = try read()  // throws for a typing error, before anything has changed
            try service.rateLimiter.replaceRates(new.limits, defaultRequestsPerSecond: 1)
            try service.resolver.replaceAddresses(new.addresses)
            token.replaceToken(new.token)
        }
    }

    /// Compiled but not run, because SIGTERM belongs to the whole process.
    private func run(_ operations: Operations, _ service: DataLoaderService) async throws {
        try await operations.run(gracePeriod: .seconds(5)) {
            try operations.start(for: service)
            startFeatures()
        } onHangup: {
            try readSettings()
        }
    }

    private func startFeatures() {}

    @Sendable private func readSettings() throws {}

    @Test func `an authoriser reads its token from a file of systemd`() async throws {
        let directory = TemporaryDirectory()
        try directory.write(Data("s3cret\n".utf8), to: "api-token")
        let settings = OperationsConfiguration(environment: [
            "CREDENTIALS_DIRECTORY": directory.url.path
        ])
        let credentials = settings.credentials ?? ServiceCredentials(directory: "/etc/feeds")
        let authoriser = TokenAuthoriser(hosts: ["api.example.com"]) { _ in
            AccessToken(try credentials.text("api-token"), lifetime: .seconds(60))
        }
        let transport = ScriptedTransport(otherwise: .respond(status: 200))
        var configuration = DataLoaderService.Configuration()
        configuration.transport = transport
        // With all the other tests beside it a task may wait for a minute.
        configuration.timeouts.total = .seconds(3_600)
        let service = DataLoaderService(configuration: configuration)
        let loader = service.makeFactory(authorisers: [authoriser]).makeDataLoader()
        let request = DataLoaderRequest(url: testURL("https://api.example.com/"))
        _ = try await loader.response(for: request)
        #expect(
            transport.attempts.map { $0.request.headers["Authorization"] } == ["Bearer s3cret"])
        let token = StaticTokenAuthoriser(token: "old", hosts: ["api.example.com"])
        token.replaceToken(try credentials.text("api-token"))
    }

    @Test func `the smallest start has no log`() async throws {
        var configuration = DataLoaderService.Configuration()
        let operations = Operations(instrumenting: &configuration)
        let service = DataLoaderService(configuration: configuration)
        try operations.start(for: service)
        await operations.shutDown(gracePeriod: .zero)
    }

    @Test func `a log is chosen by its format and its place`() {
        var log = AccessLog(.json, to: .file("/var/log/feed/access.log"))
        log.keepsOneIn = 100  // of the loads that succeeded quickly
        #expect(log.buffer == 1_048_576)
    }

    @Test func `a request belongs to the trace of the one that caused it`() {
        let header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03"
        var request = DataLoaderRequest.make("/")
        trace(&request, header)
        #expect(request[option: TraceParent.self]?.traceparent == header)
        let incoming: HTTPHeaders = ["traceparent": header]
        let context =
            TraceContext(
                traceparent: incoming["traceparent"] ?? "", tracestate: incoming["tracestate"])
            ?? TraceContext.makeRoot()
        print(context.traceparent)  // 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03
        #expect(context.traceparent == header)
    }

    private func trace(_ request: inout DataLoaderRequest, _ incoming: String) {
        request[option: TraceParent.self] = TraceContext(traceparent: incoming)
    }

    @Test func `metrics and spans go to a collector`() async throws {
        let server = try LoopbackServer { _ in .ok("{}") }
        var configuration = DataLoaderService.Configuration()
        var settings = OperationsConfiguration()
        configure(&settings, collector: server.url())
        settings.push?.interval = .seconds(1)
        let operations = Operations(settings, instrumenting: &configuration)
        let service = DataLoaderService(configuration: configuration)
        try operations.start(for: service)
        let request = await server.waitForRequests(1)[0]
        #expect(request.path == "/v1/metrics")
        await operations.shutDown(gracePeriod: .zero)
    }

    private func configure(_ settings: inout OperationsConfiguration, collector: URL) {
        settings.push = TelemetryPush(endpoint: collector)  // http://127.0.0.1:4318
        settings.tracing = .always(ratio: 0.1)
        settings.recordsLoadSpans = true
    }

    @Test func `a path has a pattern, and the usual transport can be wrapped`() async throws {
        let server = try LoopbackServer { _ in .ok("fine") }
        var configuration = DataLoaderService.Configuration()
        configuration.transport = CountingTransport(configuration.makeDefaultTransport())
        let service = DataLoaderService(configuration: configuration)
        var request = DataLoaderRequest(url: server.url())
        request[option: URLTemplate.self] = "/users/{id}"
        _ = try await service.makeFactory().makeDataLoader().response(for: request)
        let recorder = try #require(configuration.transport as? CountingTransport)
        #expect(recorder.loads.elements.count == 1)
        await service.shutDown(gracePeriod: .zero)
    }
}
