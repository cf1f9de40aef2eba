// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

extension SecurityTests {
    // A canary in every place that may hold a secret, which no way of printing may show.
    @Suite struct CanaryTests {
        private static let canary = "c4nary"
        private static let body = Data(canary.utf8)
        private static let headers: HTTPHeaders = [
            "Authorization": canary, "X-Api-Key": canary, "Set-Cookie": canary,
        ]

        private enum Fact: RequestOption {
            static let defaultValue: String? = nil
        }

        private static func request(_ user: String = "") -> DataLoaderRequest {
            let url = testURL("http://\(user)origin.test/path?key=\(canary)#\(canary)")
            var request = DataLoaderRequest(url: url)
            request.headers = headers
            request.method = .post
            request.body = .data(body)
            request[option: Fact.self] = canary
            return request
        }

        /// The output that shows the canary as text or as bytes; nil when none does.
        private static func leak(_ value: Any) -> String? {
            var dumped = ""
            dump(value, to: &dumped)
            let ways = ["\(value)", String(reflecting: value), dumped]
            let lines = dumped.split(separator: "\n").map { $0.drop { $0 == " " } }.joined(
                separator: "\n")
            let inBytes = canary.utf8.map { "- \($0)" }.joined(separator: "\n")
            if lines.contains(inBytes) { return dumped }
            return ways.first { $0.contains(canary) }
        }

        private static func expectNoLeak(
            _ value: Any, sourceLocation: SourceLocation = #_sourceLocation
        ) {
            let found = leak(value).map { String($0.prefix(2_000)) }
            #expect(found == nil, "\(type(of: value))", sourceLocation: sourceLocation)
        }

        @Test func `the search for printed secrets finds an unprotected secret`() {
            struct Careless {
                let data = CanaryTests.body
            }
            #expect(Self.leak(Careless()) != nil)
            #expect(Self.leak([Self.canary]) != nil)
        }

        @Test func `a request, its parts and its bodies print no secrets`() {
            Self.expectNoLeak(Self.request())
            Self.expectNoLeak(Self.request("user:\(Self.canary)@"))
            Self.expectNoLeak(Self.headers)
            Self.expectNoLeak(Self.headers.fields)
            let file = URL(fileURLWithPath: "/tmp/\(Self.canary)")
            let stream = OneShotStream(InputStream(data: Self.body))
            for body in [
                RequestBody.data(Self.body), .file(file), .oneShot(stream),
                .stream(length: 6) { InputStream(data: Self.body) },
            ] {
                Self.expectNoLeak(body)
            }
            Self.expectNoLeak(stream)
            #expect("\(RequestBody.data(Self.body))" == "data of 6 bytes")
        }

        @Test func `a response and its decisions print no secrets`() {
            let response = DataLoaderResponse(
                request: Self.request(), statusCode: .ok, headers: Self.headers,
                resolvedURL: Self.request().url, body: Self.body)
            Self.expectNoLeak(response)
            Self.expectNoLeak(CallResponse(response: response, result: .success(Self.body)))
            Self.expectNoLeak(response.statusError(.ok))
            Self.expectNoLeak(response.statusError(.ok).localizedDescription)
            Self.expectNoLeak(response.statusError(.ok).context as Any)
            let head = ResponseHead(status: .ok, headers: Self.headers)
            Self.expectNoLeak(head)
            Self.expectNoLeak(
                AttemptOutcome(of: Self.request(), status: .ok, headers: Self.headers))
            let url = Self.request().url
            Self.expectNoLeak(
                Redirect(
                    status: HTTPStatus(rawValue: 302), from: url, to: url, method: .get, count: 0))
        }

        @Test func `an attempt, pins and addresses print no secrets`() {
            var policy = ServerTrustPolicy(pinnedPublicKeys: ["origin.test": [Self.canary]])
            policy.certificateAuthorities = Self.body
            Self.expectNoLeak(policy)
            var attempt = TransportRequest(url: Self.request().url, headers: Self.headers)
            attempt.address = "\(Self.canary).test:8443"
            attempt.body = .data(Self.body)
            attempt.serverTrustPolicy = policy
            attempt.setText("http://origin.test/|?\(Self.canary)")
            Self.expectNoLeak(attempt)
            #expect("\(attempt)" == "GET http://origin.test/path?…")
            let resolver = HostResolver()
            resolver.setAddresses(["\(Self.canary).test"], forHost: "origin.test")
            Self.expectNoLeak(resolver)
            var configuration = DataLoaderService.Configuration()
            configuration.serverTrustPolicy = policy
            configuration.resolver = resolver
            Self.expectNoLeak(configuration)
            Self.expectNoLeak(StaticTokenAuthoriser(token: Self.canary, hosts: ["origin.test"]))
        }

        @Test(arguments: [
            RequestFault.headerName("Authorization: Bearer \(canary)"),
            .headerValue(name: "X \(canary)"), .reservedHeader("Host: \(canary)"),
        ])
        func `an error about a malformed name prints no secrets`(fault: RequestFault) {
            Self.expectNoLeak(fault)
            Self.expectNoLeak(DataLoaderError.invalidRequest(fault))
            Self.expectNoLeak(DataLoaderError.invalidRequest(fault).localizedDescription)
            Self.expectNoLeak(DataLoaderError.invalidRequest(fault) as NSError)
        }

        @Test func `the objects that take part in a load print no secrets`() async {
            let authoriser = StaticTokenAuthoriser(
                token: Self.canary, hosts: ["origin.test"], allowsPlainLoopback: true)
            let adder = TestAuthoriser(.add("X-Token", Self.canary))
            let bed = TestBed(authorisers: [authoriser, adder]) { configuration in
                configuration.resolver.setAddresses(
                    ["\(Self.canary).test"], forHost: "origin.test")
            }
            let token = bed.loader.perform(Self.request())
            let call = bed.loader.request(Self.request().url)
            var chunked = Self.request()
            chunked.chunks = true
            let chunks = bed.loader.chunks(for: chunked)
            let attempt = await bed.attempt(0)
            #expect(attempt.request.headers["X-Token"] == Self.canary)
            for value in [
                token, call, chunks, chunks.makeAsyncIterator(), bed.loader, bed.factory,
                bed.service, bed.service.resolver, bed.service.rateLimiter, bed.transport,
            ] as [Any] {
                Self.expectNoLeak(value)
            }
            attempt.respond(status: 200, headers: Self.headers, body: Self.body)
            let outcome = await bed.outcome()
            Self.expectNoLeak(outcome as Any)
            Self.expectNoLeak(bed.observer)
        }
    }
}
