// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Trust policies that change while a service runs, and those of single requests.
@Suite struct TrustRotationTests {
    private static let pin = Data(repeating: 7, count: 32).base64EncodedString()
    private static let https = "https://origin.test"

    private static func policy(_ host: String) -> ServerTrustPolicy {
        ServerTrustPolicy(pinnedPublicKeys: [host: [pin]])
    }

    private static func identity(_ name: String) -> ClientIdentity {
        ClientIdentity(
            certificateChain: Data("-----BEGIN CERTIFICATE-----\(name)".utf8),
            privateKey: Data("-----BEGIN PRIVATE KEY-----\(name)".utf8))
    }

    @Test func `a new trust policy applies to every attempt that starts afterwards`() throws {
        let bed = TestBed { $0.serverTrustPolicy = Self.policy("first.test") }
        bed.loader.perform(
            .make(host: Self.https) { $0.retryPolicy = .immediately(maximumRetries: 1) })
        bed.settle()
        try bed.service.setServerTrustPolicy(Self.policy("second.test"))
        #expect(bed.service.serverTrustPolicy == Self.policy("second.test"))
        bed.transport.attempts[0].fail(.connectionReset, sent: .written)
        bed.settle()
        try bed.service.setServerTrustPolicy(nil)
        bed.loader.perform(.make(host: Self.https))
        bed.settle()
        #expect(
            bed.transport.attempts.map(\.request.serverTrustPolicy) == [
                Self.policy("first.test"), Self.policy("second.test"), nil,
            ])
    }

    @Test func `a malformed trust policy is refused, and the previous one stays in use`() {
        let bed = TestBed { $0.serverTrustPolicy = Self.policy("first.test") }
        let malformed = ServerTrustPolicy(pinnedPublicKeys: ["A.test": [Self.pin]])
        #expect(throws: DataLoaderError.self) { try bed.service.setServerTrustPolicy(malformed) }
        #expect(bed.service.serverTrustPolicy == Self.policy("first.test"))
    }

    @Test func `a request's own trust policy is used in place of the service's`() {
        let bed = TestBed(
            [.respond(status: 302, headers: ["Location": "https://other.test/"])]
        ) { $0.serverTrustPolicy = Self.policy("first.test") }
        bed.loader.perform(
            .make(host: Self.https) { $0.serverTrustPolicy = Self.policy("own.test") })
        bed.settle()
        let policies = bed.transport.attempts.map(\.request.serverTrustPolicy)
        #expect(policies == [Self.policy("own.test"), Self.policy("own.test")])
    }

    @Test func `a request's client identity is shown to its own origin alone`() throws {
        let bed = TestBed(
            [
                .respond(status: 302, headers: ["Location": "/same"]),
                .respond(status: 302, headers: ["Location": "https://origin.test:8443/"]),
            ])
        bed.loader.perform(
            .make(host: Self.https) { $0.clientIdentity = Self.identity("own") })
        bed.settle()
        let own = Self.identity("own")
        #expect(bed.transport.attempts.map(\.request.clientIdentity) == [own, own, nil])
    }

    @Test func `a client identity takes the place of the policy's for one attempt`() throws {
        var attempt = TransportRequest(url: testURL("https://origin.test"))
        let origin = Origin(isSecure: true, host: "origin.test", port: 443)
        attempt.clientIdentity = Self.identity("own")
        #expect(attempt.trust(for: origin)?.identity == Self.identity("own"))
        #expect(attempt.trust(for: origin)?.pins == nil)
        var policy = Self.policy("origin.test")
        policy.clientIdentities["origin.test"] = Self.identity("policy")
        attempt.serverTrustPolicy = policy
        #expect(attempt.trust(for: origin)?.identity == Self.identity("own"))
        #expect(attempt.trust(for: origin)?.pins == [Self.pin])
        let plain = Origin(isSecure: false, host: "origin.test", port: 80)
        #expect(attempt.trust(for: plain) == nil)
    }

    @Test func `a request whose trust cannot be kept is refused before anything is sent`() {
        let malformed = ClientIdentity(certificateChain: Data("x".utf8), privateKey: Data())
        let rows: [(String, DataLoaderRequest)] = [
            ("clientIdentity", .make(host: Self.https) { $0.clientIdentity = malformed }),
            ("clientIdentity", .make { $0.clientIdentity = Self.identity("own") }),
            (
                "serverTrustPolicy",
                .make(host: Self.https) {
                    $0.serverTrustPolicy = ServerTrustPolicy(pinnedPublicKeys: ["x": ["no pin"]])
                }
            ),
        ]
        for (name, request) in rows {
            let bed = TestBed()
            bed.loader.perform(request)
            #expect(bed.error == .invalidRequest(.setting(name: name)))
            #expect(bed.transport.attempts.isEmpty)
        }
    }
}
