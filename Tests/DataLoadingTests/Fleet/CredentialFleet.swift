// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoading
    @testable import DataLoadingAuth
    @testable import DataLoadingFleet
    import DataLoadingSupport
    import DataLoadingTesting
    import Foundation
    import Testing

    /// Daemons with one login, whose stores have connections of their own to one server.
    ///
    /// Tokens live by the test's clock, and the lock by the system's.
    final class CredentialFleet: Sendable {
        private let clock = ManualClock()
        let provider: StrictProvider
        private let beds: [TestBed]
        private let loaders: [DataLoader]
        private let owners: [OAuthAuthoriser]

        init(_ count: Int, of bed: CredentialBed) async throws {
            let clock = clock
            let provider = StrictProvider { clock.instant }
            self.provider = provider
            beds = (0..<count).map { _ in
                TestBed(otherwise: .run { provider.serve($0) }, clock: clock)
            }
            owners = beds.map { daemon in
                OAuthAuthoriser(
                    OAuthConfiguration(
                        server: .endpoints(provider.endpoints),
                        flow: .authorizationCode(redirect: OAuthBed.redirect),
                        clientIdentifier: "client", hosts: ["origin.test"]),
                    service: daemon.service, store: bed.makeStore(), delegate: nil)
            }
            loaders = zip(beds, owners).map { daemon, owner in
                daemon.service.makeFactory(authorisers: [owner]).makeDataLoader()
            }
            try await bed.makeStore().save(
                TokenAnswer.credentials(
                    DataLoaderResponse(
                        request: .make(), statusCode: .ok,
                        body: provider.issue(family: nil, withRefresh: true).json),
                    previous: nil, received: clock.date))
        }

        /// Each daemon makes some loads at once; returns the errors of those that failed.
        func load(_ count: Int) async -> [String] {
            await withTaskGroup(of: String?.self) { group in
                for loader in loaders {
                    for number in 0..<count {
                        group.addTask {
                            do {
                                _ = try await loader.response(
                                    for: .make("/\(number)", host: "https://origin.test"))
                                return nil
                            } catch {
                                return "\(error)"
                            }
                        }
                    }
                }
                return await group.reduce(into: []) { $0 += [$1].compactMap(\.self) }
            }
        }

        /// Lets the token expire.
        func expire() { clock.advance(by: .seconds(3_600)) }
    }
#endif
