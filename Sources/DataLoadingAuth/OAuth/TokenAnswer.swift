// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import DataLoading
import Foundation

/// Parses a token endpoint's answer: JSON from an untrusted source.
enum TokenAnswer {
    /// The maximum size of an answer in bytes.
    static let most = 1_048_576

    /// The credentials of a success (RFC 6749 section 5.1); throws a refusal (section 5.2).
    ///
    /// When the answer names no refresh token, the previous one stays (section 6).
    static func credentials(
        _ response: DataLoaderResponse, previous: OAuthCredentials?, received: Date
    ) throws(AuthorisationError) -> OAuthCredentials {
        let fields = try success(response)
        guard case .string(let token)? = fields["access_token"], isToken(token) else {
            throw .invalidAnswer(reason: "access_token")
        }
        // Section 7.1: a token of an unknown type must not be used.
        guard case .string(let type)? = fields["token_type"],
            type.equalsIgnoringASCIICase("bearer")
        else { throw .invalidAnswer(reason: "token_type") }
        return OAuthCredentials(
            accessToken: token,
            refreshToken: text(fields["refresh_token"]) ?? previous?.refreshToken,
            scope: text(fields["scope"]) ?? previous?.scope,
            idToken: text(fields["id_token"]) ?? previous?.idToken,
            lifetime: seconds(fields["expires_in"]), received: received)
    }

    /// The fields of a success; throws the code of a refusal.
    static func success(
        _ response: DataLoaderResponse
    ) throws(AuthorisationError) -> [String: JSONValue] {
        let fields = fields(response)
        guard let status = response.statusCode else { throw .invalidAnswer(reason: "no status") }
        guard status.isSuccess else {
            // Any failure other than a refusal in the RFC's form may be temporary.
            guard let code = text(fields?["error"]), isRefusal(code, status) else {
                throw .load(.status(status))
            }
            throw .refused(code: self.code(code))
        }
        guard let fields else { throw .invalidAnswer(reason: "no JSON object") }
        // Some servers refuse with 200.
        if let code = text(fields["error"]) { throw .refused(code: self.code(code)) }
        return fields
    }

    /// Whether an "error" comes from the token endpoint itself.
    ///
    /// Gateways, rate limits and frameworks send one too: `429 {"error":"too_many_requests"}`. RFC
    /// 6749 section 5.2 has 400 and 401. With other statuses, such as 403 from Auth0 and 428 from
    /// Google, only the codes of the RFCs and of refresh tokens count.
    private static func isRefusal(_ code: String, _ status: HTTPStatus) -> Bool {
        switch status.rawValue {
        case 400, 401: true
        case 402..<500: codes.union(AuthorisationError.codesOfRefreshTokens).contains(code)
        default: false
        }
    }

    /// The codes of RFC 6749 sections 4.1.2.1 and 5.2, and of RFC 8628 section 3.5.
    private static let codes: Set<String> = [
        "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client",
        "unsupported_grant_type", "invalid_scope", "access_denied", "server_error",
        "temporarily_unavailable", "authorization_pending", "slow_down", "expired_token",
    ]

    /// An error code that is safe to log.
    ///
    /// RFC 6749 section 5.2 allows few characters. The result keeps token characters, colons and
    /// slashes among the first 64 bytes.
    static func code(_ text: String) -> String {
        let allowed = text.utf8.prefix(64).filter { byte in
            byte.isTokenCharacter || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "/")
        }
        return String(decoding: allowed, as: UTF8.self)
    }

    /// A string that is not empty.
    static func text(_ value: JSONValue?) -> String? {
        guard case .string(let text)? = value, !text.isEmpty else { return nil }
        return text
    }

    /// A number of seconds, which some servers send as text; never negative.
    static func seconds(_ value: JSONValue?) -> Duration? {
        switch value {
        case .number(let seconds): .saturating(seconds: max(0, seconds))
        case .string(let text): Double(text).map { .saturating(seconds: max(0, $0)) }
        default: nil
        }
    }

    private static func fields(_ response: DataLoaderResponse) -> [String: JSONValue]? {
        guard let body = response.body, body.count <= most,
            let fields = try? JSONDecoder().decode([String: Field].self, from: body)
        else { return nil }
        return fields.compactMapValues(\.value)
    }

    /// A field of an answer: one that is not a scalar is not decoded, and a broken one is absent.
    private struct Field: Decodable {
        let value: JSONValue?

        init(from decoder: any Decoder) {
            value = try? JSONValue.scalar(decoder)
        }
    }

    /// Whether a field may contain the token (RFC 6750 section 2.1).
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
