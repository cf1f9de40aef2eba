// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An authorization server as the machine sees it: its endpoints, and questions to them.
///
/// Every request goes through the service, with its limits, gates and budgets, and past every
/// authoriser: one that waited for the token which it fetches would wait for ever.
final class OAuthServer: Sendable {
    let configuration: OAuthConfiguration
    private let service: DataLoaderService
    private let factory: DataLoaderFactory
    private let loader: DataLoader
    private let discovered = Locked<Discovered?>(nil)

    /// What the document of the server said, and until when that is not asked again.
    private struct Discovered: Sendable {
        let endpoints: OAuthEndpoints
        let end: Instant
    }

    /// A daemon outlives what a document says; no RFC has a number.
    private static let lifeOfDocument = Duration.seconds(86_400)
    /// How soon to ask again for one that could not be had; the old one is used meanwhile.
    private static let pauseOfDocument = Duration.seconds(300)

    init(_ configuration: OAuthConfiguration, service: DataLoaderService) {
        self.configuration = configuration
        self.service = service
        factory = service.makeFactoryBelowAuthorisers()
        loader = factory.makeDataLoader()
    }

    /// Has the end of the service wait for what must not be lost half-way, as far as it waits at all.
    func beforeTheEnd<Result>(
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        service.runtime.ledger.loadBegan()
        defer { service.runtime.ledger.loadEnded() }
        return try await body()
    }

    /// Does the same for what nobody waits for: from now on, not from when its task runs.
    func beginBeforeTheEnd(_ body: @escaping @Sendable () async -> Void) {
        let ledger = service.runtime.ledger
        ledger.loadBegan()
        Task {
            await body()
            ledger.loadEnded()
        }
    }

    var timekeeper: any Timekeeper { service.runtime.timekeeper }
    var agenda: Agenda { service.runtime.agenda }
    var random: RandomSource { service.runtime.random }

    /// How long a log out waits for each answer of a server that may be gone.
    let patience = Duration.seconds(5)

    /// Where the server answers: as configured, or as its document says, which is fetched once a day.
    func endpoints(within timeout: Duration = .seconds(30)) async throws -> OAuthEndpoints {
        switch configuration.server {
        case .endpoints(let endpoints):
            return endpoints
        case .issuer(let issuer):
            let known = discovered.withLock { $0 }
            if let known, agenda.now < known.end { return known.endpoints }
            do {
                let found = try await ProviderDocument.fetch(issuer) {
                    try await self.load($0, within: timeout)
                }
                keep(found, for: Self.lifeOfDocument)
                return found
            } catch {
                guard let known else { throw error }
                keep(known.endpoints, for: Self.pauseOfDocument)
                return known.endpoints
            }
        }
    }

    private func keep(_ endpoints: OAuthEndpoints, for life: Duration) {
        let discovered = Discovered(endpoints: endpoints, end: agenda.now + life)
        self.discovered.withLock { $0 = discovered }
    }

    /// Gets credentials for a grant.
    func credentials(
        for grant: TokenGrant, previous: OAuthCredentials? = nil
    ) async throws -> OAuthCredentials {
        let response = try await post(grant.fields, to: try await endpoints().token)
        // The moment of receipt, or later: so that a token is never thought to last longer.
        var credentials = try TokenAnswer.credentials(
            response, previous: previous, received: timekeeper.date)
        credentials.server = configuration.server.name
        return credentials
    }

    /// Asks for the codes of a device (RFC 8628 section 3.1).
    func deviceCode() async throws -> DeviceCode {
        guard let endpoint = try await endpoints().deviceAuthorization else {
            throw AuthorisationError.invalidConfiguration(reason: "no device endpoint")
        }
        let fields = configuration.scope.map { [("scope", $0)] } ?? []
        return try DeviceCode(TokenAnswer.success(try await post(fields, to: endpoint)))
    }

    /// Tells the server that a token is not to be used any more (RFC 7009).
    func revoke(_ token: String, hint: String, at endpoints: OAuthEndpoints) async throws {
        guard let endpoint = endpoints.revocation else { return }
        let response = try await post(
            [("token", token), ("token_type_hint", hint)], to: endpoint, within: patience)
        guard response.statusCode.isSuccess else {
            throw AuthorisationError.load(.status(response.statusCode))
        }
    }

    private func post(
        _ fields: [(String, String)], to url: URL, within timeout: Duration = .seconds(30)
    ) async throws -> DataLoaderResponse {
        var request = DataLoaderRequest(url: url, sourceIdentifier: configuration.identifier)
        request.method = .post
        var fields = fields
        switch configuration.clientAuthentication {
        case .basic(let secret):
            request.headers["Authorization"] = Self.basic(configuration.clientIdentifier, secret)
        case .form(let secret):
            fields += [("client_id", configuration.clientIdentifier), ("client_secret", secret)]
        case .none:
            fields.append(("client_id", configuration.clientIdentifier))
        }
        request.body = .form(fields.map { (name: $0.0, value: $0.1) })
        return try await load(request, within: timeout)
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
        // What was never sent may be sent again; a refresh token that may have been used may not.
        request.maximumRetryCount = 2
        do {
            return try await loader.response(for: request)
        } catch let error as DataLoaderError {
            throw AuthorisationError.load(error)
        }
    }

    /// RFC 6749 section 2.3.1: both are form-encoded before they are joined.
    private static func basic(_ identifier: String, _ secret: String) -> String {
        let text = FormEncoding.encode(identifier) + ":" + FormEncoding.encode(secret)
        return "Basic " + Data(text.utf8).base64EncodedString()
    }
}
