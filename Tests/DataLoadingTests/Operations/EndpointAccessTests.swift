// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
@testable import DataLoadingOperations
import DataLoadingSupport
import Testing

/// Whom the endpoint answers.
@Suite struct EndpointAccessTests {
    private static let token = "0123456789abcdef0123456789abcdef"

    private func access(port: UInt16? = 9_464, hosts: Set<String> = []) -> EndpointAccess {
        EndpointAccess(token: Self.token, hosts: hosts, port: port)
    }

    private func request(
        host: String, origin: String? = nil, authorization: String? = nil
    ) -> EndpointRequest {
        var headers: HTTPHeaders = ["Host": host]
        headers["Origin"] = origin
        headers["Authorization"] = authorization
        return EndpointRequest(isHead: false, path: "/snapshot", headers: headers, keepsAlive: true)
    }

    private let start = Instant(nanoseconds: 0)

    @Test(
        arguments: [
            ("127.0.0.1:9464", true), ("localhost:9464", true), ("LocalHost:9464", true),
            ("[::1]:9464", true), ("feeds.internal:9464", true), ("FEEDS.internal:9464", true),
            ("evil.test:9464", false), ("127.0.0.1:80", false), ("127.0.0.1", false),
            ("localhost.evil.test:9464", false), ("localhost:94640", false), ("", false),
            ("feeds.internal", false), ("localhost:9464:9464", false),
        ])
    func `a page that another name led here is not answered`(_ host: String, _ isAnswered: Bool) {
        var access = access(hosts: ["Feeds.internal:9464"])
        let refusal = access.refusal(of: request(host: host), needsToken: false, at: start)
        #expect(refusal == (isAnswered ? nil : .forbidden))
    }

    @Test func `behind a socket any port of this machine's names is known`() {
        var access = EndpointAccess(token: nil, hosts: [], port: nil)
        for host in ["localhost", "localhost:9464", "127.0.0.1:80", "[::1]"] {
            #expect(access.refusal(of: request(host: host), needsToken: true, at: start) == nil)
        }
        for host in ["localhostile", "evil.test", "feeds"] {
            let refusal = access.refusal(of: request(host: host), needsToken: true, at: start)
            #expect(refusal == .forbidden)
        }
    }

    @Test func `a request that another page makes is not answered, with the token or without`() {
        var access = access()
        let own = "http://localhost:9464"
        for (origin, isAnswered) in [(own, true), ("http://evil.test", false), ("null", false)] {
            let refusal = access.refusal(
                of: request(
                    host: "localhost:9464", origin: origin,
                    authorization: "Bearer \(Self.token)"), needsToken: true, at: start)
            #expect(refusal == (isAnswered ? nil : .forbidden))
        }
    }

    @Test(
        arguments: [
            ("Bearer 0123456789abcdef0123456789abcdef", true),
            ("bearer 0123456789abcdef0123456789abcdef", true),
            ("Bearer 0123456789abcdef0123456789abcdeF", false),
            ("Bearer 0123456789abcdef0123456789abcde", false),
            ("Bearer ", false), ("Basic 0123456789abcdef0123456789abcdef", false),
            ("0123456789abcdef0123456789abcdef", false), (nil, false),
        ] as [(String?, Bool)])
    func `only the token is the token`(_ field: String?, _ isAnswered: Bool) {
        var access = access()
        let refusal = access.refusal(
            of: request(host: "localhost:9464", authorization: field), needsToken: true, at: start)
        #expect(refusal == (isAnswered ? nil : .unauthorised))
    }

    @Test func `ten wrong tokens a minute are told so, and the right one is always answered`() {
        var access = access()
        let wrong = request(host: "localhost:9464", authorization: "Bearer x")
        let right = request(host: "localhost:9464", authorization: "Bearer \(Self.token)")
        var statuses: [EndpointStatus?] = []
        for second in 0..<70 {
            let now = start + .seconds(second)
            statuses.append(access.refusal(of: wrong, needsToken: true, at: now))
            #expect(access.refusal(of: right, needsToken: true, at: now) == nil)
        }
        let expected =
            Array(repeating: EndpointStatus.unauthorised, count: 10)
            + Array(repeating: .tooManyRequests, count: 50)
            + Array(repeating: .unauthorised, count: 10)
        #expect(statuses == expected)
    }

    @Test func `a token that is too short or no token is refused before it is used`() {
        #expect(OperationsEndpoint.loopback(token: "short").fault != nil)
        #expect(OperationsEndpoint.loopback(token: Self.token + "\r\n").fault != nil)
        #expect(OperationsEndpoint.loopback(token: Self.token).fault == nil)
        let made = OperationsEndpoint.makeToken()
        #expect(OperationsEndpoint.loopback(token: made).fault == nil)
        #expect(made != OperationsEndpoint.makeToken())
    }
}
