// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    @testable import DataLoadingTransport
    import DataLoading
    import DataLoadingSupport
    import DataLoadingTesting
    import Foundation

    /// Users of several services that load in every way while the server is disturbed.
    final class MixedScene: Sendable {
        /// The number of users of each service; they share its origins.
        static let users = SceneSettings.number("USERS") ?? 12

        let server: RealServer
        let ledger: SceneLedger
        let origins: [String]
        let scratch = TemporaryDirectory()
        private let pace: ScenePace
        private let seed: UInt64

        init(server: RealServer, seed: UInt64, disturbingEvery count: Int) throws {
            self.server = server
            self.seed = seed
            pace = ScenePace(every: count)
            ledger = SceneLedger(pace: pace)
            origins = [
                "http://127.0.0.1:\(server.ports.plain)",
                "https://127.0.0.1:\(server.ports.secure)",
                "https://origin.test:\(server.ports.secure)",
            ].filter { !SceneSettings.isPlain || !$0.hasPrefix("https") }
        }

        /// Runs for a duration and until every load has ended; returns the number of disturbances.
        func run(for duration: Duration) async throws -> Int {
            let end = ContinuousClock.now + duration
            let deadline = DispatchTime.now() + .nanoseconds(Int(duration / .nanoseconds(1)))
            async let disturbances = disturb(until: deadline)
            let services = try Self.configurations(server).map(DataLoaderService.init)
            let queue = DispatchQueue(label: "scene.observer")
            for service in services { service.addConsumptionObserver(ledger, on: queue) }
            await withTaskGroup(of: Void.self) { group in
                for (index, service) in services.enumerated() {
                    for user in 0..<Self.users {
                        let number = UInt64(index * Self.users + user)
                        group.addTask {
                            await SceneUser(self, service, seed: self.seed &+ number &* 7_919)
                                .run(until: end)
                        }
                    }
                }
            }
            for service in services { await service.shutDown(gracePeriod: .seconds(20)) }
            await ledger.settle(on: queue)
            return try await disturbances
        }

        private static func configurations(
            _ server: RealServer
        ) throws -> [DataLoaderService.Configuration] {
            var configuration = DataLoaderService.Configuration()
            configuration.serverTrustPolicy = ServerTrustPolicy(
                certificateAuthorities: try server.site.authority)
            configuration.retry.maximumRetryCount = 12
            // The default budget is not made for an outage every few seconds.
            configuration.retry.budget = nil
            // The HTTP/2 setting of the loaded libcurl, and HTTP/2 always.
            var always = configuration
            always.http2 = .always
            return [configuration, always]
        }

        /// Reloads the server, kills a worker, and kills all of it, repeatedly.
        private func disturb(until deadline: DispatchTime) async throws -> Int {
            try await withCheckedThrowingContinuation { continuation in
                let thread = Thread { [server, pace, ledger] in
                    var count = 0
                    do {
                        while DispatchTime.now() < deadline {
                            let isDue = pace.wait(until: min(deadline, .now() + .seconds(1)))
                            if try server.revive() { ledger.note { $0.deaths += 1 } }
                            guard isDue else { continue }
                            switch count % 4 {
                            case 0, 2: server.reload()
                            case 1: try server.killWorker()
                            default: try server.restart()
                            }
                            count += 1
                        }
                        continuation.resume(returning: count)
                    } catch {
                        continuation.resume(throwing: error)
                    }
                }
                thread.start()
            }
        }
    }
#endif
