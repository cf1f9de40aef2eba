// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import DataLoadingSupport
    @testable import DataLoadingCurl
    @testable import DataLoadingTransport
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        // What a proxy must be, and what is refused.
        @Suite struct ProxyRuleTests {
            private let scene: TrustScene

            init() throws {
                scene = try TrustScene()
            }

            @Test func `an https proxy is trusted by its own authorities only`() async throws {
                let authority = try TestCertificate("A proxy's authority", isAuthority: true)
                let certificate = try TestCertificate("proxy.test", issuer: authority)
                let server = try scene.peer(
                    try TestIdentity(certificate, authority: try authority.pem))
                let transport = CurlTransport.findingProxy()
                var attempt = TransportRequest(url: testURL("http://origin.test/x"))
                attempt.serverTrustPolicy = ServerTrustPolicy(
                    certificateAuthorities: try authority.pem)
                let url = "https://proxy.test:\(server.port)"
                attempt.proxy = try Proxy(url)
                let distrusted = await transport.run(attempt)
                guard case .proxy(.certificate) = distrusted.error?.kind else {
                    Issue.record("\(String(describing: distrusted.error))")
                    return
                }
                #expect(distrusted.failure?.sent == .nothingWritten)
                attempt.proxy = try Proxy(url, certificateAuthorities: try authority.pem)
                #expect(await transport.run(attempt).text == "fine")
                #expect(server.requests.map(\.target) == ["http://origin.test/x"])
                attempt.proxy = try Proxy(url, certificateAuthorities: try scene.authority.pem)
                #expect(await transport.run(attempt).error?.name == "proxy")
                await transport.shutDown()
            }

            @Test(arguments: [false, true])
            func `what cannot be kept behind a proxy is refused, and nothing goes elsewhere`(
                afterAnother: Bool
            ) async throws {
                let server = try LoopbackServer { _ in .ok("other") }
                var attempt = TransportRequest(url: testURL("http://127.0.0.1:\(server.port)/"))
                attempt.proxy = try Proxy.findable(server)
                let changes: [(String, @Sendable (inout TransportRequest) -> Void)] = [
                    ("unsupported", { $0.address = "127.0.0.1" }),
                    ("unsupported", { $0.address = "unix:/run/a.sock" }),
                    ("unsupported", { $0.refusesPrivateAddresses = true }),
                    ("cannot_authenticate", { $0.needsLoopbackPeer = true }),
                    ("invalid_request", { $0.proxyAuthorization = "Basic a\r\nX: y" }),
                    ("invalid_request", { $0.headers["Proxy-Authorization"] = "Basic a" }),
                ]
                let transport = CurlTransport.findingProxy()
                for (name, change) in changes {
                    // Its handle is set up for the proxy, and kept.
                    if afterAnother { #expect(await transport.run(attempt).text == "other") }
                    var changed = attempt
                    change(&changed)
                    let record = await transport.run(changed)
                    #expect(record.error?.name == name)
                    #expect(record.failure?.sent == .nothingWritten)
                }
                let old = CurlTransport.findingProxy(lacking: [.refusingSends])
                #expect(await old.run(attempt).error?.name == "unsupported")
                #expect(server.requestCount == (afterAnother ? changes.count : 0))
                await transport.shutDown()
                await old.shutDown()
            }

            @Test func `a credential for this machine reaches no proxy of another`() async throws {
                let server = try LoopbackServer { _ in .ok("here") }
                let transport = CurlTransport(lookup: { name in
                    .addresses([name == "near.test" ? "127.0.0.1" : "198.51.100.1"])
                })
                for (host, text) in [("near.test", "here"), ("far.test", "")] {
                    var attempt = TransportRequest(url: testURL("http://origin.test/"))
                    attempt.proxy = try Proxy("http://\(host):\(server.port)")
                    attempt.proxyAuthorization = "Basic a"
                    attempt.proxyNeedsLoopbackPeer = true
                    let record = await transport.run(attempt)
                    #expect(record.text == text)
                    #expect((record.error?.name == "cannot_authenticate") == text.isEmpty)
                }
                await transport.shutDown()
            }

            // In a process of its own, because the environment is read without a lock.
            @Test func `no proxy variable of the environment is ever used`() async {
                await #expect(processExitsWith: .success) {
                    let trap = try LoopbackServer { _ in .ok("trap") }
                    let server = try LoopbackServer { _ in .ok("right") }
                    for name in [
                        "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
                    ] {
                        setenv(name, "http://user:word@127.0.0.1:\(trap.port)", 1)
                    }
                    for name in ["no_proxy", "NO_PROXY"] { setenv(name, "*", 1) }
                    let transport = CurlTransport()
                    let direct = await transport.get(server.url("/"))
                    try #require(direct.text == "right")
                    // With "*" there would be no proxy at all.
                    let dead = TransportRequest(url: testURL("http://127.0.0.1:1/"))
                    var attempt = dead
                    attempt.proxy = try Proxy("http://127.0.0.1:\(server.port)", directHosts: [])
                    try #require(await transport.run(attempt).text == "right")
                    attempt.url = testURL("https://127.0.0.1:1/")
                    let tunnel = await transport.run(attempt)
                    // Which it is depends on libcurl, and on whether it finds authorities.
                    let name = tunnel.error?.name ?? ""
                    try #require(["proxy", "tls", "certificate"].contains(name))
                    unsetenv("no_proxy")
                    unsetenv("NO_PROXY")
                    try #require(await transport.run(dead).error == .connectRefused)
                    try #require(
                        await transport.get(testURL("https://127.0.0.1:1/")).error
                            == .connectRefused)
                    try #require(trap.connectionCount == 0)
                    await transport.shutDown()
                }
            }
        }
    }
#endif
