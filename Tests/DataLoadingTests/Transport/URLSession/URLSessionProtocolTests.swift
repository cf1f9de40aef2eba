// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin) || URLSession
    @testable import DataLoadingURLSession
    @testable import DataLoadingTransport
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// Tests without a socket: a protocol class of the user, and refusals before anything is sent.
    @Suite struct URLSessionProtocolTests {
        private let transport: URLSessionTransport
        private let configuration: URLSessionConfiguration

        init() {
            configuration = .ephemeral
            configuration.protocolClasses = [EchoProtocol.self]
            transport = URLSessionTransport(configuration: configuration)
        }

        @Test func `the protocol classes of the configuration are used`() async throws {
            let record = await transport.get(try .host("echo.test"))
            #expect(record.head?.status.rawValue == 200)
            #expect(record.text == "GET http://echo.test/")
            #expect(record.endings == 1)
        }

        @Test func `an error of a protocol class is the attempt's error`() async throws {
            let record = await transport.get(try .host("fails.test"))
            #expect(record.error == .transport(reason: "Echo 7"))
            #expect(record.endings == 1)
        }

        @Test func `an end without a head is reported as no response`() async throws {
            #expect(await transport.get(try .host("empty.test")).error == .noResponse)
        }

        @Test func `a response that is not HTTP is refused`() async throws {
            let record = await transport.get(try .host("foreign.test"))
            #expect(record.error == .framing(reason: "not a response of HTTP"))
        }

        @Test(arguments: ["5, 6", "x", "", "-1"])
        func `a malformed Content-Length is refused`(length: String) async throws {
            var attempt = TransportRequest(url: try .host("echo.test"))
            attempt.headers = ["X-Length": length]
            #expect(await transport.run(attempt).error == .framing(reason: "Content-Length"))
        }

        @Test func `an unsupported request is refused before anything is sent`() async throws {
            var attempts: [TransportRequest] = []
            var attempt = TransportRequest(url: try .host("echo.test"))
            attempt.address = "127.0.0.1"
            attempts.append(attempt)
            attempt.address = nil
            attempt.refusesPrivateAddresses = true
            attempts.append(attempt)
            attempt.refusesPrivateAddresses = false
            attempt.body = .data(Data("a".utf8))
            attempts.append(attempt)
            attempt.body = nil
            attempt.url = try #require(URL(string: "https://echo.test/"))
            for attempt in attempts {
                let record = await transport.run(attempt)
                guard case .unsupported = record.error?.kind else {
                    Issue.record("\(String(describing: record.error))")
                    continue
                }
                #expect(record.failure?.sent == .nothingWritten)
            }
            attempt.cachePolicy = .cacheOnly
            #expect(await transport.run(attempt).error == .notCached)
        }

        /// A well-formed pin that no certificate has.
        private static let pin = Data(repeating: 7, count: 32).base64EncodedString()
        private static let certificate = Data("-----BEGIN CERTIFICATE-----".utf8)
        private static let identity = ClientIdentity(
            certificateChain: certificate, privateKey: Data("-----BEGIN PRIVATE KEY-----".utf8))

        private static let policies: [@Sendable (inout ServerTrustPolicy) -> Void] = [
            { $0.certificateAuthorities = certificate },
            { $0.pinnedPublicKeys = ["api.echo.test": [pin]] },
            { $0.pinnedPublicKeys = ["api.echo.test": []] },
            { $0.pinnedPublicKeys = ["*.echo.test": [pin]] },
            { $0.hostCertificateAuthorities = ["api.echo.test": certificate] },
            { $0.hostCertificateAuthorities = ["*.echo.test": certificate] },
            { $0.clientIdentities = ["api.echo.test": identity] },
            { $0.clientIdentities = ["*.echo.test": identity] },
        ]

        @Test(arguments: ["api.echo.test", "api.echo.test.", "API.echo.test"])
        func `a host with an entry in the trust policy is refused`(host: String) async throws {
            for change in Self.policies {
                var policy = ServerTrustPolicy()
                change(&policy)
                try policy.validate()
                var attempt = TransportRequest(
                    url: try #require(URL(string: "https://\(host)/")))
                attempt.serverTrustPolicy = policy
                let record = await transport.run(attempt)
                #expect(
                    record.error
                        == .unsupported(reason: "URLSession supports only the system's trust"))
                #expect(record.failure?.sent == .nothingWritten)
            }
        }

        @Test func `nothing is sent to https hosts while the trust policy is malformed`()
            async throws
        {
            var attempt = TransportRequest(
                url: try #require(URL(string: "https://echo.test/")))
            for policy in [
                ServerTrustPolicy(pinnedPublicKeys: ["other.test": ["a"]]),
                ServerTrustPolicy(pinnedPublicKeys: ["https://other.test": [Self.pin]]),
                ServerTrustPolicy(certificateAuthorities: Data()),
            ] {
                attempt.serverTrustPolicy = policy
                let record = await transport.run(attempt)
                guard case .certificate = record.error?.kind else {
                    Issue.record("\(String(describing: record.error))")
                    continue
                }
                #expect(record.failure?.sent == .nothingWritten)
            }
            // An entry for another host applies only to that host.
            attempt.serverTrustPolicy = ServerTrustPolicy(
                pinnedPublicKeys: ["other.test": [Self.pin]])
            #expect(await transport.run(attempt).error == nil)
        }

        @Test func `a credential without TLS is not sent to a name`() async throws {
            var attempt = TransportRequest(
                url: try #require(URL(string: "http://localhost/")))
            attempt.needsLoopbackPeer = true
            guard case .unsupported = await transport.run(attempt).error?.kind else {
                Issue.record("sent")
                return
            }
        }

        @Test func `a field or target with a line end is refused`() async throws {
            var attempt = TransportRequest(url: try .host("echo.test"))
            attempt.method = HTTPMethod(rawValue: "GET / HTTP/1.1\r\nX: y\r\n\r\nGET")
            #expect(await transport.run(attempt).error == .invalidRequest(.method))
            attempt.method = .get
            attempt.headers = ["X": "a\r\nY: b"]
            #expect(await transport.run(attempt).error == .invalidRequest(.headerValue(name: "X")))
        }

        @Test func `the caller's configuration is not changed`() {
            let cache = configuration.urlCache
            #expect(configuration.httpShouldSetCookies)
            _ = URLSessionTransport(configuration: configuration)
            #expect(configuration.httpShouldSetCookies)
            #expect(configuration.urlCache === cache)
        }
    }

    /// Responds by the host, without a network.
    private final class EchoProtocol: URLProtocol {
        override class func canInit(with request: URLRequest) -> Bool {
            request.url?.host?.hasSuffix(".test") == true
        }

        override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

        override func startLoading() {
            guard let client, let url = request.url else { return }
            let length = request.value(forHTTPHeaderField: "X-Length")
            let http = HTTPURLResponse(
                url: url, statusCode: 200, httpVersion: "HTTP/1.1",
                headerFields: length.map { ["Content-Length": $0] })
            switch url.host {
            case "fails.test":
                client.urlProtocol(self, didFailWithError: NSError(domain: "Echo", code: 7))
                return
            case "empty.test": break
            case "foreign.test":
                let response = URLResponse(
                    url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
                client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
            default:
                guard let http else { return }
                client.urlProtocol(self, didReceive: http, cacheStoragePolicy: .notAllowed)
                let text = "\(request.httpMethod ?? "") \(url.absoluteString)"
                client.urlProtocol(self, didLoad: Data(text.utf8))
            }
            client.urlProtocolDidFinishLoading(self)
        }

        override func stopLoading() {}
    }
#endif
