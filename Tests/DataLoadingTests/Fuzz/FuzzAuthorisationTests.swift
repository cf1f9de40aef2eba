// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// The parsers of what an authorization server sends or redirects a browser to.
@Suite struct FuzzAuthorisationTests {
    @Test func `the WWW-Authenticate parser accepts or refuses any bytes`() {
        let seeds = [
            "Basic realm=\"simple\"", "Bearer error=\"insufficient_scope\", scope=\"a b\"",
            "Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\", Basic realm=\"x\"",
            "Negotiate abc+/==, Bearer",
        ]
        let words = ["\"", "\\", ",", "=", " ", "Bearer", "error", "\t", "\u{E9}", "==,"]
        fuzz(seeds, words: words) { input in
            let text = String(decoding: input, as: UTF8.self)
            var headers = HTTPHeaders()
            headers.add(text, for: "WWW-Authenticate")
            let challenges = AuthenticationChallenge.all(in: headers)
            guard challenges.count <= 32 else { return .wrong("\(challenges.count)") }
            for challenge in challenges {
                let names = [challenge.scheme] + challenge.parameters.keys
                guard names.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(\.isTokenCharacter) })
                else { return .wrong("\(names)") }
            }
            // Another field adds challenges and changes none.
            headers.add("Basic", for: "WWW-Authenticate")
            let more = AuthenticationChallenge.all(in: headers)
            guard more.starts(with: challenges) else { return .wrong("\(more)") }
            return challenges.isEmpty ? .refused : .taken
        }
    }

    @Test func `the token response parser accepts or refuses any bytes`() {
        let seeds = [
            #"{"access_token":"a","token_type":"Bearer","expires_in":3600,"refresh_token":"r"}"#,
            #"{"access_token":"a","token_type":"bearer","expires_in":"60"}"#,
            #"{"error":"invalid_grant"}"#, "[[[[]]]]", "null",
        ]
        let words = [
            "{", "}", "[", "\"", ":", ",", "1e999", "-1", "\\u0000", "\\uD800", "null", "\0",
            "\"access_token\":", "\"token_type\":\"bearer\"", "\r\n",
        ]
        fuzz(seeds, words: words) { input in
            let status = HTTPStatus(rawValue: input.count % 2 == 0 ? 200 : 400)
            let response = DataLoaderResponse(
                request: .make(), statusCode: status, body: Data(input))
            do {
                let credentials = try TokenAnswer.credentials(
                    response, previous: nil, received: Date(timeIntervalSince1970: 0))
                guard credentials.accessToken.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
                    !credentials.accessToken.isEmpty, credentials.lifetime ?? .zero >= .zero
                else { return .wrong("\(credentials)") }
                return .taken
            } catch AuthorisationError.refused(let code) {
                return code.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) && code.utf8.count <= 64
                    ? .refused : .wrong(code)
            } catch {
                return .refused
            }
        }
    }

    @Test func `the login redirect parser accepts or refuses any bytes`() {
        let seeds = [
            "code=a&state=b&iss=https%3A%2F%2Fa", "error=access_denied&state=b", "a=1&a=2", "=",
            "&&",
            "a+b=%C3%A9",
        ]
        let words = ["&", "=", "%", "%00", "%zz", "+", "code=", "state=", "\u{E9}", "#", "?"]
        fuzz(seeds, words: words) { input in
            let text = String(decoding: input, as: UTF8.self)
            guard let fields = try? FormDecoding.decode(Substring(text)) else { return .refused }
            let written = FormEncoding.encode(fields.map { ($0.key, $0.value) })
            let again = try? FormDecoding.decode(
                Substring(String(decoding: written, as: UTF8.self)))
            return again == fields ? .taken : .wrong("\(fields)")
        }
    }
}
