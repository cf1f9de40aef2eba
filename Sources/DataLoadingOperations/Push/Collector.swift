// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import Foundation

/// A collector of telemetry, to which a service of its own sends requests.
///
/// The service is neither instrumented nor observed: telemetry does not report itself, and takes no
/// slot of the daemon's loads. Redirects are not followed, because the fields of a request may hold
/// a key.
final class Collector: Sendable {
    private static let maxRequest = 67_108_864
    private static let maxResponse: Int64 = 4_194_304
    private static let maxInFlight = 2
    /// The time for a request with all its retries.
    private static let total = Duration.seconds(60)

    private let service: DataLoaderService
    private let loader: DataLoader
    private let headers: HTTPHeaders

    /// Makes the service; nil of a transport means the usual one.
    init(_ push: TelemetryPush, _ transport: (any Transport)?, _ timekeeper: any Timekeeper) {
        var configuration = DataLoaderService.Configuration()
        configuration.transport = transport
        configuration.userAgent = "DataLoading/" + BuildLabels.version
        configuration.loops = 1
        configuration.limits.perOrigin = Self.maxInFlight
        configuration.limits.total = Self.maxInFlight
        configuration.limits.body = Self.maxResponse
        configuration.serverTrustPolicy = push.serverTrustPolicy
        configuration.timeouts.connect = push.timeout
        configuration.timeouts.idle = push.timeout
        configuration.timeouts.total = max(Self.total, push.timeout)
        // The policy of a request bounds its retries, and there is one request at a time.
        configuration.retry.budget = nil
        service = DataLoaderService(
            configuration: configuration, timekeeper: timekeeper, random: .system)
        loader = service.makeFactory().makeDataLoader()
        headers = push.headers
    }

    /// The timer of the service, with one alarm for all who wait.
    var timerQueue: TimerQueue { service.runtime.timerQueue }

    /// Sends a request with so many items; returns how many of them the collector did not take.
    func send(_ bytes: [UInt8], of count: Int, to url: URL) async -> Int {
        guard bytes.count <= Self.maxRequest else { return count }
        var request = DataLoaderRequest(url: url)
        request.method = .post
        request.headers = headers
        request.body = .encoded(Data(bytes), contentType: "application/json")
        request.redirectPolicy = .doNotFollow
        // A collector that gets a batch twice has it twice, which OTLP prefers to losing it.
        request.isIdempotent = true
        request.retryPolicy = CollectorRetries()
        guard let response = try? await loader.response(for: request),
            response.statusCode?.isSuccess == true
        else { return count }
        return CollectorAnswer.rejected(response.body, of: count)
    }

    /// Ends the service; what is being sent has so much time.
    func shutDown(gracePeriod: Duration) async {
        await service.shutDown(gracePeriod: gracePeriod)
    }
}
