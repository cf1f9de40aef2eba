// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import Foundation

/// A small authorization server that is strict: whatever breaks a specification is a violation, and a
/// test that sees one fails.
final class StrictProvider: Sendable {
    /// One question of a client.
    struct Question: Sendable {
        let method: String
        let path: String
        let authorization: String?
        let contentType: String?
        let form: [String: String]
    }

    /// What it says.
    struct Answer: Sendable {
        var status = 200
        var fields: [String: JSONValue] = [:]

        static func refuse(_ code: String, status: Int = 400) -> Answer {
            Answer(status: status, fields: ["error": .string(code)])
        }
    }

    struct State: Sendable {
        /// By code: what was asked for with it.
        var codes: [String: [String: String]] = [:]
        var usedCodes: Set<String> = []
        /// By refresh token: the line of tokens that it belongs to.
        var families: [String: Int] = [:]
        var currentRefresh: [Int: String] = [:]
        var accessTokens: [String: (family: Int, expiry: Instant)] = [:]
        var devices: [String: Device] = [:]
        var revoked: [String] = []
        var issued = 0
        var questions: [Question] = []
        var violations: [String] = []
        /// Answers that come in the place of the next ones at the token endpoint.
        var overrides: [Answer] = []
        /// What its document says of PKCE; nothing, as many do.
        var challengeMethods: [String]?
        /// Whether it issues refresh tokens.
        var issuesRefreshTokens = true
    }

    struct Device: Sendable {
        var isApproved = false
        var isDenied = false
        var interval: Duration
        var lastPoll: Instant?
        let expiry: Instant
    }

    let issuer: String
    let lifetime: Duration
    let now: @Sendable () -> Instant
    let state = Locked(State())

    init(
        issuer: String = "https://auth.test", lifetime: Duration = .seconds(3_600),
        now: @escaping @Sendable () -> Instant
    ) {
        self.issuer = issuer
        self.lifetime = lifetime
        self.now = now
    }

    // MARK: What tests look at and do

    var violations: [String] { state.withLock { $0.violations } }

    /// How often the token endpoint was asked for a grant.
    func asked(_ grant: String) -> Int {
        state.withLock { $0.questions.filter { $0.form["grant_type"] == grant }.count }
    }

    func endpoint(_ path: String) -> URL { testURL(issuer + path) }

    var endpoints: OAuthEndpoints {
        OAuthEndpoints(
            token: endpoint("/token"), authorization: endpoint("/authorize"),
            deviceAuthorization: endpoint("/device"), revocation: endpoint("/revoke"),
            issuer: issuer)
    }

    func accepts(_ token: String) -> Bool {
        let now = now()
        return state.withLock { $0.accessTokens[token].map { now < $0.expiry } ?? false }
    }

    /// Takes every access token back, and leaves refresh tokens.
    func expireAccessTokens() { state.withLock { $0.accessTokens = [:] } }

    func answerNextTokenQuestion(with answer: Answer) {
        state.withLock { $0.overrides.append(answer) }
    }

    func decide(approve: Bool) {
        state.withLock { state in
            for code in state.devices.keys {
                state.devices[code]?.isApproved = approve
                state.devices[code]?.isDenied = !approve
            }
        }
    }

    /// What a browser does with the page of a login: the person consents, and it is redirected.
    func consent(at page: URL) -> URL {
        let text = page.absoluteString
        let query = text.split(separator: "?", maxSplits: 1).last ?? ""
        let fields = (try? FormDecoding.decode(query)) ?? [:]
        expect(text.hasPrefix(issuer + "/authorize?"), "another page")
        expect(fields["response_type"] == "code", "response_type")
        expect(fields["client_id"] == "client", "client_id")
        expect(fields["code_challenge_method"] == "S256", "code_challenge_method")
        expect(fields["code_challenge"]?.count == 43, "code_challenge")
        expect((fields["state"] ?? "").count >= 22, "state has too little chance in it")
        let code = state.withLock { state in
            state.issued += 1
            let code = "code-\(state.issued)"
            state.codes[code] = fields
            return code
        }
        let redirect = fields["redirect_uri"] ?? ""
        let issuer = FormEncoding.encode(issuer)
        return testURL(
            redirect + "?code=\(code)&state=\(fields["state"] ?? "")&iss=\(issuer)")
    }

    // MARK: What clients ask

    func answer(_ question: Question) -> Answer {
        // Once it is answered: what a test does when it sees the question comes too late for it.
        defer { state.withLock { $0.questions.append(question) } }
        switch question.path {
        case "/.well-known/openid-configuration":
            return document
        case "/token", "/device", "/revoke":
            expect(question.method == "POST", "\(question.path) is asked by \(question.method)")
            expect(
                question.contentType == "application/x-www-form-urlencoded", "another body")
            guard authenticates(question) else { return .refuse("invalid_client", status: 401) }
        default:
            return Answer(status: 404)
        }
        switch question.path {
        case "/device": return deviceCode()
        case "/revoke": return revoke(question)
        default: return token(question)
        }
    }

    private var document: Answer {
        let names = [
            "token_endpoint": "/token", "authorization_endpoint": "/authorize",
            "device_authorization_endpoint": "/device", "revocation_endpoint": "/revoke",
        ]
        var fields = names.mapValues { JSONValue.string(issuer + $0) }
        fields["issuer"] = .string(issuer)
        fields["code_challenge_methods_supported"] = state.withLock { $0.challengeMethods }
            .map { .array($0.map { .string($0) }) }
        return Answer(fields: fields)
    }

    private func authenticates(_ question: Question) -> Bool {
        let isBasic =
            question.authorization == "Basic " + Data("client:s%2Bcret".utf8).base64EncodedString()
        let isForm = question.form["client_id"] == "client"
        expect(!(isBasic && isForm), "the client authenticates twice")
        return isBasic || isForm && question.authorization == nil
    }

    private func token(_ question: Question) -> Answer {
        let override = state.withLock { state in
            state.overrides.isEmpty ? nil : state.overrides.removeFirst()
        }
        if let override { return override }
        switch question.form["grant_type"] {
        case "authorization_code": return exchange(question.form)
        case "refresh_token": return refresh(question.form)
        case "client_credentials": return issue(family: nil, withRefresh: false)
        case "urn:ietf:params:oauth:grant-type:device_code": return poll(question.form)
        default:
            expect(false, "grant_type")
            return .refuse("unsupported_grant_type")
        }
    }

    func expect(_ condition: Bool, _ violation: String) {
        guard !condition else { return }
        state.withLock { $0.violations.append(violation) }
    }
}

extension StrictProvider.Answer {
    /// The body.
    var json: Data {
        (try? JSONSerialization.data(withJSONObject: fields.mapValues(\.plain))) ?? Data()
    }
}

extension JSONValue {
    fileprivate var plain: Any {
        switch self {
        case .null: NSNull()
        case .bool(let value): value
        case .number(let value): value
        case .string(let value): value
        case .array(let values): values.map(\.plain)
        case .object(let fields): fields.mapValues(\.plain)
        }
    }
}
