// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport
import DataLoading
import Foundation

/// An authorization server: its endpoints, and the requests that the machine sends to them.
///
/// Every request goes through the service, with its limits, gates and budgets, but without
/// authorisers: an authoriser that waited for the token it fetches would wait for ever.
final class OAuthServer: Sendable {
    let configuration: OAuthConfiguration
    private let service: DataLoaderService
    private let factory: DataLoaderFactory
    private let loader: DataLoader
    private let discovered = Locked<Discovered?>(nil)

    /// The endpoints of the server's document, and the instant until which they are cached.
    private struct Discovered: Sendable {
        let endpoints: OAuthEndpoints
        let end: Instant
    }

    /// The caching time of the document: one day, for which no RFC has a number.
    private static let discoveryTTL = Duration.seconds(86_400)
    /// The pause after a failed fetch of the document: 5 minutes, with the old one in use.
    private static let discoveryRetryDelay = Duration.seconds(300)

    init(_ configuration: OAuthConfiguration, service: DataLoaderService) {
        self.configuration = configuration
        self.service = service
        factory = service.makeFactoryBelowAuthorisers()
        loader = factory.makeDataLoader()
    }

    /// Delays the service's shutdown until `body` is done, as far as shutdown waits at all.
    func delayingShutdown<Result>(
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        let delays = service.runtime.liveLoads.loadBegan()
        defer { if delays { service.runtime.liveLoads.loadEnded() } }
        return try await body()
    }

    /// Does the same for a body that no caller awaits, from this call on.
    func beginDelayingShutdown(_ body: @escaping @Sendable () async -> Void) {
        let liveLoads = service.runtime.liveLoads
        let delays = liveLoads.loadBegan()
        Task {
            await body()
            if delays { liveLoads.loadEnded() }
        }
    }

    var timekeeper: any Timekeeper { service.runtime.timekeeper }
    var timerQueue: TimerQueue { service.runtime.timerQueue }
    var random: RandomSource { service.runtime.random }

    /// The time limit of each request of a log-out, because the server may not answer.
    let logoutTimeout = Duration.seconds(5)

    /// The endpoints, as configured or from the server's document, which is fetched once a day.
    func endpoints(within timeout: Duration = .seconds(30)) async throws -> OAuthEndpoints {
        switch configuration.server {
        case .endpoints(let endpoints):
            return endpoints
        case .issuer(let issuer):
            let known = discovered.withLock { $0 }
            if let known, timerQueue.now < known.end { return forClient(known.endpoints) }
            do {
                let found = try await ProviderDocument.fetch(issuer) {
                    try await self.load($0, within: timeout)
                }
                cache(found, for: Self.discoveryTTL)
                return forClient(found)
            } catch {
                guard let known else { throw error }
                cache(known.endpoints, for: Self.discoveryRetryDelay)
                return forClient(known.endpoints)
            }
        }
    }

    /// The endpoints for the client authentication in use.
    private func forClient(_ endpoints: OAuthEndpoints) -> OAuthEndpoints {
        if case .mutualTLS = configuration.clientAuthentication { return endpoints.forMutualTLS }
        return endpoints
    }

    private func cache(_ endpoints: OAuthEndpoints, for ttl: Duration) {
        let discovered = Discovered(endpoints: endpoints, end: timerQueue.now + ttl)
        self.discovered.withLock { $0 = discovered }
    }

    /// Gets credentials for a grant.
    func credentials(
        for grant: TokenGrant, previous: OAuthCredentials? = nil
    ) async throws -> OAuthCredentials {
        let endpoints = try await endpoints()
        let response = try await post(
            try grant.fields.adding(parameters: configuration.tokenParameters), to: endpoints.token,
            as: endpoints)
        // The moment of receipt or later, so that a token is never used for too long.
        var credentials = try TokenAnswer.credentials(
            response, previous: previous, received: timekeeper.date)
        configuration.purpose.mark(&credentials)
        return credentials
    }

    /// Requests the codes of a device (RFC 8628 section 3.1).
    func deviceCode() async throws -> DeviceCode {
        let endpoints = try await endpoints()
        guard let endpoint = endpoints.deviceAuthorization else {
            throw AuthorisationError.invalidConfiguration(reason: "no device endpoint")
        }
        let scope = configuration.scope.map { [("scope", $0)] } ?? []
        let fields = try scope.adding(parameters: configuration.loginParameters)
        let response = try await post(fields, to: endpoint, as: endpoints)
        return try DeviceCode(TokenAnswer.success(response))
    }

    /// Revokes a token at the server (RFC 7009).
    func revoke(_ token: String, hint: String, at endpoints: OAuthEndpoints) async throws {
        guard let endpoint = endpoints.revocation else { return }
        let response = try await post(
            [("token", token), ("token_type_hint", hint)], to: endpoint, as: endpoints,
            within: logoutTimeout)
        if let status = response.statusCode, !status.isSuccess {
            throw AuthorisationError.load(.status(status))
        }
    }

    /// Calls the program's function for a grant or an assertion, which has 10 seconds.
    ///
    /// Together with the request that follows, two such calls take less time than other
    /// processes wait for a lock.
    func call<Answer: Sendable>(
        within timeout: Duration = .seconds(10),
        _ body: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        guard let answer = try await timerQueue.within(timeout, body) else {
            throw AuthorisationError.timedOut
        }
        return answer
    }

    private func post(
        _ fields: [(String, String)], to url: URL, as endpoints: OAuthEndpoints,
        within timeout: Duration = .seconds(30)
    ) async throws -> DataLoaderResponse {
        var request = DataLoaderRequest(url: url, sourceIdentifier: configuration.identifier)
        request.method = .post
        let client = configuration.clientIdentifier
        var own = client.isEmpty ? [] : [("client_id", client)]
        switch configuration.clientAuthentication {
        case .basic(let secret):
            request.headers["Authorization"] = Self.basic(client, secret)
            own = []
        case .form(let secret):
            own.append(("client_secret", secret))
        case .mutualTLS:
            request.clientIdentity = try await clientIdentity(for: url, within: timeout)
        case .assertion(let make):
            let assertion = try await call(within: min(timeout, .seconds(10))) {
                try await make(endpoints.token)
            }
            own += [
                ("client_assertion_type", ClientAssertion.type), ("client_assertion", assertion),
            ]
        case .none:
            break
        }
        request.body = .form(try fields.adding(own).map { (name: $0.0, value: $0.1) })
        return try await load(request, within: timeout)
    }

    /// The certificate to show in place of the trust policy's; nil for the policy's.
    private func clientIdentity(
        for url: URL, within timeout: Duration
    ) async throws -> ClientIdentity? {
        if let identity = configuration.clientIdentity {
            return try await call(within: min(timeout, .seconds(10)), identity)
        }
        let host = (try? RequestTarget(url))?.origin.host ?? ""
        guard service.serverTrustPolicy?.trust(forHost: host).identity != nil else {
            throw AuthorisationError.invalidConfiguration(reason: "no client certificate")
        }
        return nil
    }

    private func load(
        _ request: DataLoaderRequest, within timeout: Duration = .seconds(30)
    ) async throws -> DataLoaderResponse {
        guard configuration.allows(request.url) else {
            throw AuthorisationError.invalidConfiguration(reason: "an endpoint without https")
        }
        var request = request
        request.keepCredentialOnThisMachine()
        request.headers["Accept"] = "application/json"
        request.timeout = timeout
        request.redirectPolicy = .doNotFollow
        request.priority = .high
        // A request that was never sent is retried; a refresh token that may have been used is not.
        request.maximumRetryCount = 2
        do {
            return try await loader.response(for: request)
        } catch let error as DataLoaderError {
            throw AuthorisationError.load(error)
        }
    }

    /// The Basic field value of form-encoded name and secret (RFC 6749 section 2.3.1).
    private static func basic(_ identifier: String, _ secret: String) -> String {
        let text = FormEncoding.encode(identifier) + ":" + FormEncoding.encode(secret)
        return "Basic " + Data(text.utf8).base64EncodedString()
    }
}
