// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// The samples about settings that change while a service runs.

@Suite struct SettingSamples {
    private let url = testURL("https://api.example.com/feed")

    @Test func `the sample of connection slots sets the limits of a host`() throws {
        let service = DataLoaderService()
        try service.slots.setMaximum(4, forHostOf: url)
        try service.slots.setMaximum(2, of: .stream, forHostOf: url)
        #expect(try service.slots.maximum(forHostOf: url) == 4)
        #expect(try service.slots.maximum(of: .stream, forHostOf: url) == 2)
    }

    @Test func `the sample of a stream takes a slot of the streams`() {
        var request = DataLoaderRequest(url: url)
        request.slotUse = .stream
        request.idleTimeout = .seconds(600)
        #expect(request.slotUse == .stream)
    }

    @Test func `the sample of a rotation replaces the trust policy of a service`() throws {
        let service = DataLoaderService()
        let folder = TemporaryDirectory()
        let bundle = folder.url.appendingPathComponent("bundle.pem")
        let certificate = Data("-----BEGIN CERTIFICATE-----".utf8)
        try certificate.write(to: bundle)
        let renewed = ClientIdentity(
            certificateChain: certificate, privateKey: Data("-----BEGIN PRIVATE KEY-----".utf8))
        var policy = ServerTrustPolicy(certificateAuthorities: try Data(contentsOf: bundle))
        policy.clientIdentities["api.example.com"] = renewed
        try service.setServerTrustPolicy(policy)
        #expect(service.serverTrustPolicy == policy)
    }
}
