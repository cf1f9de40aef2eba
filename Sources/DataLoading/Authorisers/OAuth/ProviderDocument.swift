// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The document in which an authorization server says where it answers.
enum ProviderDocument {
    /// Fetches it where OpenID Connect Discovery 1.0 section 4 puts it, or RFC 8414 section 3.
    static func fetch(
        _ issuer: URL, _ load: (DataLoaderRequest) async throws -> DataLoaderResponse
    ) async throws -> OAuthEndpoints {
        var response: DataLoaderResponse?
        for url in places(issuer) {
            let answer = try await load(DataLoaderRequest(url: url, sourceIdentifier: "discovery"))
            response = answer
            guard answer.statusCode.rawValue == 404 else { break }
        }
        guard let response else {
            throw AuthorisationError.invalidConfiguration(reason: "the issuer")
        }
        return try endpoints(in: fields(of: response), of: issuer)
    }

    /// What the document says: its fields, and the one list that is looked at.
    private static func fields(
        of response: DataLoaderResponse
    ) throws(AuthorisationError) -> [String: JSONValue] {
        var fields = try TokenAnswer.success(response)
        do {
            let lists = try JSONDecoder().decode(Lists.self, from: response.body ?? Data())
            fields[methods] = lists.methods.map { .array($0.map { .string($0) }) }
        } catch {
            throw .invalidAnswer(reason: methods)
        }
        return fields
    }

    private static let methods = Lists.CodingKeys.methods.rawValue

    /// Of a stranger's JSON no more is read than these.
    private struct Lists: Decodable {
        enum CodingKeys: String, CodingKey {
            case methods = "code_challenge_methods_supported"
        }

        let methods: [String]?
    }

    /// Reads the document; its issuer must be the one that was asked, to the byte (section 4.3).
    static func endpoints(
        in fields: [String: JSONValue], of issuer: URL
    ) throws(AuthorisationError) -> OAuthEndpoints {
        guard case .string(let name)? = fields["issuer"], name == issuer.absoluteString else {
            throw .invalidAnswer(reason: "issuer")
        }
        guard let token = try url("token_endpoint", in: fields) else {
            throw .invalidAnswer(reason: "token_endpoint")
        }
        var endpoints = OAuthEndpoints(
            token: token, authorization: try url("authorization_endpoint", in: fields),
            deviceAuthorization: try url("device_authorization_endpoint", in: fields),
            revocation: try url("revocation_endpoint", in: fields),
            endSession: try url("end_session_endpoint", in: fields), issuer: name)
        if case .bool(true)? = fields["authorization_response_iss_parameter_supported"] {
            endpoints.alwaysNamesIssuer = true
        }
        // RFC 8414 section 2: a document without the list says nothing, as many servers' do.
        if let list = fields[methods], list != .null {
            guard case .array(let methods) = list else { throw .invalidAnswer(reason: methods) }
            endpoints.takesS256 = methods.contains(.string("S256"))
        }
        return endpoints
    }

    private static func places(_ issuer: URL) -> [URL] {
        guard let target = try? RequestTarget(issuer) else { return [] }
        let text = target.urlText
        let origin = text.dropLast(target.pathAndQuery.count)
        // Both want the slash at the end to go.
        let path =
            target.pathAndQuery.hasSuffix("/")
            ? target.pathAndQuery.dropLast() : target.pathAndQuery[...]
        return [
            origin + path + "/.well-known/openid-configuration",
            origin + "/.well-known/oauth-authorization-server" + path,
        ].compactMap { URL(string: String($0)) }
    }

    private static func url(
        _ name: String, in fields: [String: JSONValue]
    ) throws(AuthorisationError) -> URL? {
        guard let value = fields[name], value != .null else { return nil }
        guard let text = TokenAnswer.text(value), let url = URL(string: text),
            (try? RequestTarget(url)) != nil
        else { throw .invalidAnswer(reason: name) }
        return url
    }
}
