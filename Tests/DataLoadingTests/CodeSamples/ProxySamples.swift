// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingAuth
import DataLoadingTesting
import Foundation
import Testing

// The samples about proxies and Unix-domain sockets.

@Suite struct ProxySamples {
    @Test func `the sample of a proxy leaves a domain and this machine out`() throws {
        var configuration = DataLoaderService.Configuration()
        configuration.proxy = try Proxy(
            "http://proxy.example.com:3128", directHosts: Proxy.loopbackHosts + [".example.com"])
        try configuration.validate()
        let hosts = configuration.proxy?.directHosts
        #expect(hosts == ["localhost", "127.0.0.1", "[::1]", ".example.com"])
    }

    @Test func `the sample of a password for a proxy gives it to the proxy`() async throws {
        let secret = "word"
        let transport = ScriptedTransport(otherwise: .respond(status: 200))
        var configuration = DataLoaderService.Configuration()
        configuration.transport = transport
        configuration.proxy = try Proxy("https://proxy.example.com:3128")
        configuration.proxyAuthoriser = BasicAuthoriser(
            hosts: ["proxy.example.com:3128"],
            credentials: try BasicCredentials(username: "ada", password: secret))
        let loader = DataLoaderService(configuration: configuration).makeFactory()
            .makeDataLoader()
        let url = testURL("https://api.example.org/")
        _ = try await loader.response(for: DataLoaderRequest(url: url))
        let request = transport.attempts.first?.request
        #expect(request?.proxyAuthorization == "Basic YWRhOndvcmQ=")
        #expect(request?.headers.contains("Authorization") == false)
    }

    @Test func `the sample of a sibling loads from a socket`() async throws {
        let transport = ScriptedTransport(otherwise: .respond(status: 200))
        var configuration = DataLoaderService.Configuration()
        configuration.transport = transport
        let service = DataLoaderService(configuration: configuration)
        let loader = service.makeFactory().makeDataLoader()
        let status = testURL("http://sibling/status")
        service.resolver.setAddresses(
            ["unix:/run/sibling.sock"], forHost: "sibling", fallsBackToDNS: false)
        let response = try await loader.response(for: DataLoaderRequest(url: status))
        #expect(response.statusCode == .ok)
        #expect(transport.attempts.map(\.request.address) == ["unix:/run/sibling.sock"])
    }

    @Test func `the sample of a resolver takes a socket without DNS`() throws {
        let resolver = HostResolver()
        resolver.setAddresses(
            ["unix:/run/sibling.sock"], forHost: "sibling", fallsBackToDNS: false)
        try resolver.validate()
        #expect(resolver.address(forHost: "sibling") == "unix:/run/sibling.sock")
    }
}
