// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingAuth
import DataLoadingFleet
import Foundation

/// A daemon that loads with the login of its fleet.
///
/// It writes how many loads were done, and why others failed.
struct LoginShare {
    /// An authoriser fetches five times in 30 s at most, so that tokens of 2 s need a new one in time.
    private static let shift = Duration.seconds(5)
    private static let pause = Duration.milliseconds(50)

    private let settings: Settings
    private let origin: URL
    private let fleet: RedisFleet
    private let store: RedisCredentialStore

    /// Nil without a server and an origin.
    init?(_ settings: Settings) throws {
        guard let server = settings.server, let origin = settings.origin else { return nil }
        self.settings = settings
        self.origin = origin
        var configuration = RedisFleet.Configuration(
            endpoints: [try RedisEndpoint(server)], namespace: "probe")
        // The machine may be busy: what is judged is not how soon the server answers.
        configuration.patience = .seconds(5)
        fleet = RedisFleet(configuration)
        store = fleet.makeCredentialStore(name: "login")
    }

    func run() async throws {
        if let seed = settings.seed {
            try await store.update { _ in
                OAuthCredentials(
                    accessToken: "none", refreshToken: seed, lifetime: .zero, received: Date())
            }
        } else {
            await loadAll()
        }
        await fleet.shutDown()
    }

    private func loadAll() async {
        let service = DataLoaderService()
        let end = ContinuousClock.now + .seconds(settings.seconds)
        var done = 0
        while ContinuousClock.now < end {
            let shiftEnd = min(end, ContinuousClock.now + Self.shift)
            let authoriser = OAuthAuthoriser(configuration, service: service, store: store)
            let loader = service.makeFactory(authorisers: [authoriser]).makeDataLoader()
            let url = origin.appendingPathComponent("resource")
            while ContinuousClock.now < shiftEnd {
                do {
                    _ = try await loader.response(for: DataLoaderRequest(url: url))
                    done += 1
                } catch {
                    print("failed", error)
                }
                try? await Task.sleep(for: Self.pause)
            }
        }
        await service.shutDown(gracePeriod: .seconds(10))
        print("done", done)
    }

    private var configuration: OAuthConfiguration {
        let token = origin.appendingPathComponent("token")
        var configuration = OAuthConfiguration(
            server: .endpoints(OAuthEndpoints(token: token)), flow: .deviceCode,
            clientIdentifier: "probe", hosts: ["127.0.0.1:\(origin.port ?? 80)"])
        // The password says who asks: all else must be the same for all.
        configuration.clientAuthentication = .basic(secret: "\(settings.place)")
        configuration.allowsPlainLoopback = true
        return configuration
    }
}
