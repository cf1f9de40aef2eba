// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import Foundation
import Testing

@Suite struct TokenAnswerTests {
    private func read(_ json: String, status: Int = 200) throws -> OAuthCredentials {
        let response = DataLoaderResponse(
            request: .make(), statusCode: HTTPStatus(rawValue: status), body: Data(json.utf8))
        return try TokenAnswer.credentials(
            response, previous: nil, received: Date(timeIntervalSince1970: 0))
    }

    @Test(arguments: [
        (#""expires_in":60"#, Duration.seconds(60)), (#""expires_in":"60""#, .seconds(60)),
        (#""expires_in":0.5"#, .milliseconds(500)), (#""expires_in":-1"#, .zero),
        (#""expires_in":"soon""#, nil), (#""x":1"#, nil),
        (#""expires_in":1e300"#, .nanoseconds(Int64.max)),
    ])
    func `a token answer's lifetime is read as servers write it`(field: String, expected: Duration?)
        throws
    {
        let credentials = try read(
            #"{"access_token":"a","token_type":"BEARER","# + field + "}")
        #expect(credentials.lifetime == expected)
    }

    @Test(arguments: [
        ("", AuthorisationError.invalidAnswer(reason: "no JSON object")),
        ("[]", .invalidAnswer(reason: "no JSON object")),
        ("{}", .invalidAnswer(reason: "access_token")),
        (#"{"access_token":1}"#, .invalidAnswer(reason: "access_token")),
        (#"{"access_token":"","token_type":"bearer"}"#, .invalidAnswer(reason: "access_token")),
        (
            #"{"access_token":"a\r\nb","token_type":"bearer"}"#,
            .invalidAnswer(reason: "access_token")
        ),
        (#"{"access_token":"a"}"#, .invalidAnswer(reason: "token_type")),
        (#"{"access_token":"a","token_type":"mac"}"#, .invalidAnswer(reason: "token_type")),
    ])
    func `a token answer that breaks the RFC is refused`(json: String, expected: AuthorisationError)
    {
        #expect(throws: expected) { try read(json) }
    }

    // RFC 6749 section 5.2
    @Test func `a token answer tells a refusal from a failure`() {
        let refusal = #"{"error":"invalid_grant","error_description":"canary"}"#
        #expect(throws: AuthorisationError.refused(code: "invalid_grant")) {
            try read(refusal, status: 400)
        }
        for status in [500, 503, 302] {
            #expect(throws: AuthorisationError.load(.status(HTTPStatus(rawValue: status)))) {
                try read(refusal, status: status)
            }
        }
        #expect(throws: AuthorisationError.load(.status(HTTPStatus(rawValue: 404)))) {
            try read("not found", status: 404)
        }
    }

    // 1.11: clocks that move between a write and a read.
    @Test
    func `a token's remaining life is counted from its receipt, also when the clock went back`() {
        let received = Date(timeIntervalSince1970: 1_000)
        let credentials = OAuthCredentials(
            accessToken: "a", lifetime: .seconds(100), received: received)
        let cases: [(Double, Duration)] = [
            (0, .seconds(100)), (60, .seconds(40)), (100, .zero), (1e12, .zero),
            (-60, .seconds(100)), (-61, .zero),
        ]
        for (later, expected) in cases {
            #expect(credentials.remaining(at: received.addingTimeInterval(later)) == expected)
        }
        let endless = OAuthCredentials(accessToken: "a", received: received)
        #expect(endless.remaining(at: .distantPast) == nil)
    }

    @Test func `a token answer prints no token`() {
        let credentials = OAuthCredentials(
            accessToken: "canary", refreshToken: "canary", idToken: "canary", received: .now)
        var configuration = OAuthConfiguration(
            server: .issuer(testURL("https://auth.test")), flow: .clientCredentials,
            clientIdentifier: "c", hosts: [])
        configuration.clientAuthentication = .basic(secret: "canary")
        let values: [Any] = [credentials, configuration, configuration.clientAuthentication]
        for value in values {
            var dumped = ""
            dump(value, to: &dumped)
            #expect(!"\(value)\(String(reflecting: value))\(dumped)".contains("canary"))
        }
    }

    @Test func `a refusal with status 200 is read as a refusal`() {
        let body = Data(#"{"error":"authorization_pending"}"#.utf8)
        #expect(throws: AuthorisationError.refused(code: "authorization_pending")) {
            try TokenAnswer.credentials(
                DataLoaderResponse(request: .make(), statusCode: .ok, body: body), previous: nil,
                received: Date())
        }
    }

    @Test func `a token answer with a number that no double can hold is read`() throws {
        let body = Data(
            #"{"access_token":"a","token_type":"Bearer","refresh_token":"r","x":1e999}"#.utf8)
        let credentials = try TokenAnswer.credentials(
            DataLoaderResponse(request: .make(), statusCode: .ok, body: body), previous: nil,
            received: Date())
        #expect(credentials.refreshToken == "r")
    }

    @Test func `a token answer of four kilobytes is read in less than a tenth of a second`() {
        let nest = String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
        let text =
            "{\"access_token\":\"a\",\"x\":["
            + Array(repeating: nest, count: 10).joined(separator: ",") + "]}"
        let took = processorTime {
            _ = try? TokenAnswer.success(
                DataLoaderResponse(request: .make(), statusCode: .ok, body: Data(text.utf8)))
        }
        #expect(took < .milliseconds(100 * patience), "\(text.utf8.count) bytes: \(took)")
    }
}
