// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingFleet
import Foundation

/// One daemon of a fleet.
///
/// It writes when each of its loads began, how long each had waited for its slot, and why others
/// failed: words and nanoseconds, by the clock that all processes have.
@main struct FleetProbe {
    private static let host = "https://api.test/"

    static func main() async throws {
        let settings = Settings(CommandLine.arguments.dropFirst())
        guard !settings.sharesLogin else { return try await LoginShare(settings)?.run() ?? () }
        guard let url = URL(string: host) else { return }
        let transport = RecordingTransport(refused: settings.refused)
        let service = DataLoaderService(
            configuration: try configuration(settings, url, transport))
        let demand = Demand(
            loader: service.makeFactory().makeDataLoader(), url: url, settings: settings)
        await demand.run()
        await service.shutDown(gracePeriod: .seconds(1))
    }

    private static func configuration(
        _ settings: Settings, _ url: URL, _ transport: RecordingTransport
    ) throws -> DataLoaderService.Configuration {
        var configuration = DataLoaderService.Configuration()
        configuration.transport = transport
        configuration.limits.perOrigin = 1_000
        configuration.limits.total = 1_000
        configuration.rateLimiter.setRequestsPerSecond(
            settings.rate, burst: settings.burst, forHostOf: url)
        guard let server = settings.server else { return configuration }
        var sharing = RedisFleet.Configuration(
            endpoints: try server.split(separator: ",").map { try RedisEndpoint(String($0)) },
            namespace: "probe")
        if let user = settings.user {
            sharing.user = user
            sharing.password = { "secret" }
        }
        configuration.rateLimiter.share(
            through: RedisFleet(sharing), expectedMembers: settings.members,
            whenLost: settings.loss)
        return configuration
    }
}
