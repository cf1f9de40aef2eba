// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoadingAuth
@testable import DataLoading
import Testing

@Suite struct AuthenticationChallengeTests {
    private typealias Challenge = AuthenticationChallenge

    private func read(_ values: String...) -> [String] {
        var headers = HTTPHeaders()
        for value in values { headers.add(value, for: "WWW-Authenticate") }
        return Challenge.all(in: headers).map { challenge in
            challenge.scheme
                + challenge.parameters.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
                .joined()
        }
    }

    // RFC 9110 section 11.6.1, RFC 6750 section 3, RFC 7617 section 2
    @Test func `challenges and their parameters are read from one field or several`() {
        #expect(read("Basic realm=\"simple\"") == ["basic realm=simple"])
        #expect(
            read(
                "Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\", Basic realm=\"simple\""
            )
                == ["newauth realm=apps title=Login to \"apps\" type=1", "basic realm=simple"])
        #expect(
            read("Bearer error=\"invalid_token\", error_description=\"it, expired\"", "Basic")
                == ["bearer error=invalid_token error_description=it, expired", "basic"])
        #expect(read("Negotiate abc+/==, Bearer") == ["negotiate", "bearer"])
        #expect(read("Bearer realm = x ,scope=\"a b\"") == ["bearer realm=x scope=a b"])
        #expect(read("Bearer a=1, A=2") == ["bearer a=1"])
        #expect(read(", ,Basic,,") == ["basic"])
    }

    @Test func `a challenge that fits no rule is left out with those behind it`() {
        #expect(read("") == [])
        #expect(read("\"quoted\"") == [])
        #expect(read("Basic realm=\"open") == ["basic"])
        #expect(read("Basic realm= x=, Bearer") == ["basic realm=x"])
        #expect(read("Basic realm=\"a\\") == ["basic"])
        #expect(read("Basic é") == ["basic"])
        #expect(read(String(repeating: "a, ", count: 10_000)).count == 32)
    }

    // RFC 6750 section 3.1
    @Test func `a challenge tells a token that lacks scope from a bad one`() {
        func indicatesInsufficientScope(_ value: String) -> Bool {
            Challenge.indicatesInsufficientScope(["WWW-Authenticate": value])
        }
        #expect(
            indicatesInsufficientScope(
                "Bearer realm=\"x\", error=\"insufficient_scope\", scope=\"a\""))
        #expect(indicatesInsufficientScope("Basic realm=\"x\", bearer error=insufficient_scope"))
        #expect(!indicatesInsufficientScope("Bearer error=\"invalid_token\""))
        #expect(!indicatesInsufficientScope("Basic error=\"insufficient_scope\""))
        #expect(!indicatesInsufficientScope("Bearer realm=\"error=insufficient_scope\""))
        #expect(!Challenge.indicatesInsufficientScope([:]))
    }
}
