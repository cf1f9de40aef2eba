// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    @testable import DataLoadingCurl
    import DataLoadingSupport
    @testable import DataLoadingAuth
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    /// Ends the process when new credentials are to be written.
    private final class DeadlyStore: OAuthCredentialStore {
        private let file: FileCredentialStore
        private let isInTheMiddle: Bool

        init(_ path: String, inTheMiddle: Bool) {
            // On the caller's thread, which takes the signal; those of Dispatch do not.
            file = FileCredentialStore(
                file: URL(fileURLWithPath: path), timekeeper: SystemTimekeeper(),
                executor: { $0() })
            isInTheMiddle = inTheMiddle
        }

        func load() async throws -> OAuthCredentials? { try await file.load() }

        func update(
            _ body: @Sendable (OAuthCredentials?) async throws -> OAuthCredentials?
        ) async throws {
            try await file.update { present in
                let credentials = try await body(present)
                guard credentials != present else { return present }
                guard isInTheMiddle else {
                    _ = raise(SIGKILL)
                    return present
                }
                return limitFiles(toLength: 20) ? credentials : present
            }
        }
    }

    /// A person who consents to whatever is shown.
    private final class Consenting: OAuthDelegate {
        private let provider: StrictProvider

        init(_ provider: StrictProvider) {
            self.provider = provider
        }

        func logIn(at url: URL) async throws -> URL? { provider.consent(at: url) }
    }

    private func authoriser(
        port: Int, service: DataLoaderService, store: any OAuthCredentialStore,
        delegate: (any OAuthDelegate)? = nil
    ) -> OAuthAuthoriser {
        let issuer = "http://127.0.0.1:\(port)"
        var configuration = OAuthConfiguration(
            server: .endpoints(
                OAuthEndpoints(
                    token: testURL(issuer + "/token"),
                    authorization: testURL(issuer + "/authorize"),
                    issuer: issuer)),
            flow: .authorizationCode(redirect: OAuthBed.redirect), clientIdentifier: "client",
            hosts: ["127.0.0.1:\(port)"])
        configuration.allowsPlainLoopback = true
        return OAuthAuthoriser(configuration, service: service, store: store, delegate: delegate)
    }

    /// Loads until the token is refused and the new one is to be written.
    private func loadUntilTheEnd(port: Int, store: any OAuthCredentialStore) async {
        let service = DataLoaderService()
        let loader = service.makeFactory(
            authorisers: [authoriser(port: port, service: service, store: store)]
        ).makeDataLoader()
        for _ in 0...2 * OAuthLoopback.uses {
            _ = try? await loader.response(
                for: DataLoaderRequest(url: testURL("http://127.0.0.1:\(port)/resource")))
        }
    }

    extension SocketTests {
        /// A process that dies between the answer of the server and the new file.
        @Suite struct OAuthCrashTests {
            /// The same work, as the server and the files of the dead process leave it.
            private func goOn(_ loopback: OAuthLoopback, _ file: URL) async throws {
                let provider = try #require(loopback.provider.withLock { $0 })
                let store = FileCredentialStore(file: file)
                #expect(provider.asked("refresh_token") == 1)
                #expect(try await store.load()?.refreshToken == "refresh-1")

                let person = Consenting(provider)
                var settings = DataLoaderService.Configuration()
                settings.limits.perOrigin = 100
                let clock = ManualClock(date: Date())
                let service = DataLoaderService(configuration: settings, clock: clock)
                let port = Int(loopback.server.port)
                let authoriser = authoriser(
                    port: port, service: service, store: store, delegate: person)
                let loader = service.makeFactory(authorisers: [authoriser]).makeDataLoader()
                let request = DataLoaderRequest(url: testURL("http://127.0.0.1:\(port)/resource"))
                let errors = await withTaskGroup(of: (any Error)?.self) { group in
                    for _ in 0..<100 {
                        group.addTask {
                            do {
                                _ = try await loader.response(for: request)
                                return nil
                            } catch {
                                return error
                            }
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1 as? DataLoaderError) }
                }
                // One question about what is lost, which ends all of them.
                let refused = DataLoaderError.cannotAuthenticate(
                    reason: "oauth: the server refused: invalid_grant")
                #expect(errors == Array(repeating: refused, count: 100))
                #expect(provider.asked("refresh_token") == 2)
                #expect(provider.violations == ["a refresh token is used twice"])
                #expect(try await store.load() == nil)

                // After the pause that follows a refusal, the next load logs in.
                clock.advance(by: .seconds(2))
                try await authoriser.logIn()
                let response = try await loader.response(for: request)
                #expect(response.statusCode == .ok)
                #expect(try await store.load()?.refreshToken != nil)
                withExtendedLifetime(person) {}
            }

            @Test(arguments: [false, true])
            func `a killed process leaves a free lock and a whole file, and one login suffices`(
                inTheMiddle: Bool
            ) async throws {
                let directory = TemporaryDirectory()
                let loopback = try OAuthLoopback(refreshes: 50)
                let file = directory.url("credentials.json")
                try await FileCredentialStore(file: file).save(loopback.issue())
                await #expect(processExitsWith: .signal(inTheMiddle ? SIGXFSZ : SIGKILL)) {
                    [
                        port = Int(loopback.server.port) as Int, path = file.path as String,
                        inTheMiddle
                    ] in
                    await loadUntilTheEnd(
                        port: port, store: DeadlyStore(path, inTheMiddle: inTheMiddle))
                }
                try await goOn(loopback, file)
            }
        }
    }
#endif
