// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Where `Tests/AuthlibProvider/provider.py` listens, when somebody has started it.
private let provider = ProcessInfo.processInfo.environment["DATALOADING_AUTHLIB"]

extension SocketTests {
    // The flows against Authlib's authorization server, which is not part of this project.
    @Suite(.enabled(if: provider != nil)) struct AuthlibTests {
        /// A person whose browser goes where a page sends it, and who enters codes by themselves.
        private final class Person: OAuthDelegate {
            let loader: DataLoader
            let codes = EventRecorder<DeviceCode>()

            init(_ service: DataLoaderService) {
                loader = service.makeFactory().makeDataLoader()
            }

            func logIn(at url: URL) async throws -> URL? {
                var request = DataLoaderRequest(url: url)
                request.redirectPolicy = .doNotFollow
                let response = try await loader.response(for: request)
                return response.headers["Location"].flatMap(URL.init(string:))
            }

            func show(_ code: DeviceCode) async { codes.record(code) }
        }

        private let service = DataLoaderService()
        private let store = MemoryCredentialStore()
        private let person: Person
        private let loader: DataLoader
        private let base: String

        init() throws {
            base = try #require(provider)
            person = Person(service)
            loader = service.makeFactory().makeDataLoader()
        }

        private func url(_ path: String) -> URL { testURL(base + path) }

        private func authorised(
            _ flow: OAuthConfiguration.Flow, client: String = "public",
            _ authentication: OAuthConfiguration.ClientAuthentication = .none
        ) -> DataLoaderFactory {
            var configuration = OAuthConfiguration(
                server: .endpoints(
                    OAuthEndpoints(
                        token: url("/token"), authorization: url("/authorize"),
                        deviceAuthorization: url("/device"), revocation: url("/revoke"))),
                flow: flow, clientIdentifier: client, hosts: ["127.0.0.1:*"])
            configuration.clientAuthentication = authentication
            configuration.allowsPlainLoopback = true
            let authoriser = OAuthAuthoriser(
                configuration, service: service, store: store, delegate: person)
            return service.makeFactory(authorisers: [authoriser])
        }

        private func load(_ factory: DataLoaderFactory) async throws -> HTTPStatus? {
            let loader = factory.makeDataLoader()
            return try await loader.response(for: DataLoaderRequest(url: url("/resource")))
                .statusCode
        }

        private func expireTokens() async throws {
            var request = DataLoaderRequest(url: url("/expire"))
            request.method = .post
            let response = try await loader.response(for: request)
            #expect(response.statusCode == .ok)
        }

        @Test func `a person logs in with a browser, and refreshes go on for as long as wanted`()
            async throws
        {
            let flow = OAuthConfiguration.Flow.authorizationCode(
                redirect: testURL("http://127.0.0.1:7777/callback"))
            let factory = authorised(flow)
            #expect(try await load(factory) == .ok)
            var seen: Set<String?> = [await store.load()?.refreshToken]
            for _ in 0..<4 {
                try await expireTokens()
                #expect(try await load(factory) == .ok)
                seen.insert(await store.load()?.refreshToken)
            }
            #expect(seen.count == 5)
            let last = try #require(await store.load())
            await factory.reset()
            #expect(await store.load() == nil)
            // The server has taken the token back.
            let stale = StaticTokenAuthoriser(
                token: last.accessToken, hosts: ["127.0.0.1:*"], allowsPlainLoopback: true)
            #expect(try await load(service.makeFactory(authorisers: [stale])) == .unauthorised)
            await service.shutDown(gracePeriod: .zero)
        }

        @Test func `a person logs in on another device`() async throws {
            #expect(try await load(authorised(.deviceCode)) == .ok)
            #expect(person.codes.elements.count == 1)
            await service.shutDown(gracePeriod: .zero)
        }

        @Test func `a program is its own user`() async throws {
            let factory = authorised(
                .clientCredentials, client: "service", .basic(secret: "service-secret"))
            #expect(try await load(factory) == .ok)
            try await expireTokens()
            #expect(try await load(factory) == .ok)
            await service.shutDown(gracePeriod: .zero)
        }

        @Test func `a wrong secret is named`() async throws {
            let factory = authorised(.clientCredentials, client: "service", .basic(secret: "wrong"))
            await #expect(
                throws: DataLoaderError.cannotAuthenticate(
                    reason: "oauth: the server refused: invalid_client")
            ) {
                try await load(factory)
            }
            await service.shutDown(gracePeriod: .zero)
        }
    }
}
