// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
@testable import DataLoadingOperations
import DataLoadingTesting
import Foundation
import Testing

/// A service with a scripted transport, whose spans go to a scripted collector.
struct TelemetryScene {
    let clock = ManualClock()
    let transport: ScriptedTransport
    let collector = ScriptedTransport(otherwise: .respond(status: 200))
    let operations: Operations
    let service: DataLoaderService
    private let factory: DataLoaderFactory

    init(
        _ answers: [ScriptedAnswer] = [], authorisers: [any Authoriser] = [],
        interceptors: [any Interceptor] = [],
        _ configure: (inout OperationsConfiguration) -> Void = { _ in }
    ) throws {
        transport = ScriptedTransport(answers, otherwise: .respond(status: 200))
        var configuration = DataLoaderService.Configuration()
        configuration.transport = transport
        var settings = OperationsConfiguration(environment: [:])
        settings.serviceName = "feeds"
        settings.push = TelemetryPush(endpoint: testURL("https://collector.test:4318"))
        configure(&settings)
        operations = Operations(
            settings, instrumenting: &configuration, timekeeper: clock.timekeeper,
            collector: collector)
        service = DataLoaderService(configuration: configuration, clock: clock)
        factory = service.makeFactory(authorisers: authorisers, interceptors: interceptors)
        try operations.start(for: service)
    }

    /// A loader for requests that a test begins itself.
    func makeDataLoader(_ delegate: any DataLoaderDelegate) -> DataLoader {
        factory.makeDataLoader(delegate: delegate)
    }

    /// Loads a path of `api.test`, whatever the outcome is.
    func load(
        _ path: String = "/a", trace: TraceContext? = nil,
        _ change: (inout DataLoaderRequest) -> Void = { _ in }
    ) async {
        var request = DataLoaderRequest(url: testURL("https://api.test" + path))
        request[option: TraceParent.self] = trace
        change(&request)
        _ = try? await factory.makeDataLoader().response(for: request)
    }

    /// The fields `traceparent` that servers got.
    var fields: [String?] { transport.attempts.map { $0.request.headers["traceparent"] } }

    /// Ends the service; returns the spans that the collector got, in the order in which they ended.
    func spans() async throws -> [SentSpan] {
        await operations.shutDown(gracePeriod: .zero)
        return try collector.spans()
    }
}

extension TraceContext {
    /// A sampled trace with fixed numbers.
    static var sampled: TraceContext {
        get throws {
            try #require(
                TraceContext(
                    traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
        }
    }
}
