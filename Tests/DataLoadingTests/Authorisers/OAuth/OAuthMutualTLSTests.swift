// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Client authentication by certificate at the token endpoint (RFC 8705).
@Suite struct OAuthMutualTLSTests {
    private static let issuer = testURL("https://auth.test")
    private static let answer = Data(
        #"{"access_token":"t","token_type":"Bearer","expires_in":3600}"#.utf8)
    private static let document = Data(
        #"""
        {"issuer":"https://auth.test","token_endpoint":"https://auth.test/token",
         "mtls_endpoint_aliases":{"token_endpoint":"https://mtls.auth.test/token"}}
        """#.utf8)

    private static func identity(_ name: String) -> ClientIdentity {
        ClientIdentity(
            certificateChain: Data("-----BEGIN CERTIFICATE-----\(name)".utf8),
            privateKey: Data("-----BEGIN PRIVATE KEY-----\(name)".utf8))
    }

    private static func bed() -> TestBed {
        TestBed(
            otherwise: .run { attempt in
                let isDocument = attempt.request.url.path().hasPrefix("/.well-known")
                attempt.respond(status: 200, body: isDocument ? document : answer)
            })
    }

    private static func loader(
        _ bed: TestBed, _ server: OAuthConfiguration.Server,
        identity: (@Sendable () async throws -> ClientIdentity)?
    ) -> DataLoader {
        var configuration = OAuthConfiguration(
            server: server, flow: .clientCredentials, clientIdentifier: "client",
            hosts: ["origin.test"])
        configuration.clientAuthentication = .mutualTLS
        configuration.clientIdentity = identity
        let authoriser = OAuthAuthoriser(
            configuration, service: bed.service, store: MemoryCredentialStore())
        return bed.service.makeFactory(authorisers: [authoriser]).makeDataLoader()
    }

    private static let request = DataLoaderRequest.make(host: "https://origin.test")

    @Test func `the token endpoint is shown the certificate of the moment, and no other server is`()
        async throws
    {
        let bed = Self.bed()
        let names = Locked(["first", "second"])
        let loader = Self.loader(
            bed, .endpoints(OAuthEndpoints(token: testURL("https://auth.test/token"))),
            identity: { Self.identity(names.withLock { $0.removeFirst() }) })
        _ = try await loader.response(for: Self.request)
        bed.clock.advance(by: .seconds(3_601))
        _ = try await loader.response(for: Self.request)
        let sent = bed.transport.attempts.map(\.request)
        #expect(
            sent.map(\.clientIdentity)
                == [Self.identity("first"), nil, Self.identity("second"), nil])
        let form = sent[0].body?.bytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
        #expect(form.contains("client_id=client"))
        #expect(!form.contains("secret"))
        #expect(sent[0].headers["Authorization"] == nil)
        #expect(sent[1].headers["Authorization"] == "Bearer t")
    }

    @Test func `the aliases of a server's document are used for a client with a certificate`()
        async throws
    {
        let bed = Self.bed()
        let loader = Self.loader(bed, .issuer(Self.issuer)) { Self.identity("own") }
        _ = try await loader.response(for: Self.request)
        #expect(
            bed.transport.attempts.map { $0.request.url.host() }
                == ["auth.test", "mtls.auth.test", "origin.test"])
    }

    @Test func `nothing is sent to a token endpoint without a certificate`() async throws {
        let bed = Self.bed()
        let endpoints = OAuthEndpoints(token: testURL("https://auth.test/token"))
        let loader = Self.loader(bed, .endpoints(endpoints), identity: nil)
        await #expect(throws: DataLoaderError.self) {
            try await loader.response(for: Self.request)
        }
        #expect(bed.transport.attempts.isEmpty)
        // The certificate of the trust policy counts as well.
        var policy = ServerTrustPolicy()
        policy.clientIdentities["auth.test"] = Self.identity("policy")
        try bed.service.setServerTrustPolicy(policy)
        bed.clock.advance(by: .seconds(600))
        _ = try await loader.response(for: Self.request)
        #expect(bed.transport.attempts.count == 2)
        #expect(bed.transport.attempts[0].request.clientIdentity == nil)
    }

    @Test(.timeLimit(.minutes(5)))
    func `a certificate that does not come is given up after ten seconds`() async {
        let bed = Self.bed()
        let asked = EventRecorder<Void>()
        let held = EventRecorder<Void>()
        let endpoints = OAuthEndpoints(token: testURL("https://auth.test/token"))
        let loader = Self.loader(bed, .endpoints(endpoints)) {
            asked.record(())
            _ = await held.first(1)
            return Self.identity("late")
        }
        async let failure = loader.failure(of: Self.request)
        _ = await asked.first(1)
        bed.clock.advance(by: .seconds(10))
        #expect(await failure?.underlyingError as? AuthorisationError == .timedOut)
        held.record(())
        bed.settle()
        #expect(bed.transport.attempts.isEmpty)
    }
}
