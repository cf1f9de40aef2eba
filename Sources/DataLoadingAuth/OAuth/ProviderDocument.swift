// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoading
import Foundation

/// Fetches and parses the document that lists an authorization server's endpoints.
enum ProviderDocument {
    /// Fetches it where OpenID Connect Discovery 1.0 section 4 or RFC 8414 section 3 places it.
    static func fetch(
        _ issuer: URL, _ load: (DataLoaderRequest) async throws -> DataLoaderResponse
    ) async throws -> OAuthEndpoints {
        var response: DataLoaderResponse?
        for url in places(issuer) {
            let answer = try await load(DataLoaderRequest(url: url, sourceIdentifier: "discovery"))
            response = answer
            guard answer.statusCode == 404 else { break }
        }
        guard let response else {
            throw AuthorisationError.invalidConfiguration(reason: "the issuer")
        }
        return try endpoints(in: fields(of: response), of: issuer)
    }

    /// The fields of the document, with the one list that is read.
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
        do {
            let read = try JSONDecoder().decode(Aliases.self, from: response.body ?? Data())
            fields[aliases] = read.aliases.map { .object($0) }
        } catch {
            throw .invalidAnswer(reason: aliases)
        }
        return fields
    }

    private static let methods = Lists.CodingKeys.methods.rawValue
    private static let aliases = Aliases.CodingKeys.aliases.rawValue

    /// Limits decoding of untrusted JSON to this list.
    private struct Lists: Decodable {
        enum CodingKeys: String, CodingKey {
            case methods = "code_challenge_methods_supported"
        }

        let methods: [String]?
    }

    /// Limits decoding of untrusted JSON to this object (RFC 8705 section 5).
    private struct Aliases: Decodable {
        enum CodingKeys: String, CodingKey {
            case aliases = "mtls_endpoint_aliases"
        }

        let aliases: [String: JSONValue]?
    }

    /// Reads the endpoints; the issuer must equal the requested one byte for byte (section 4.3).
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
        // RFC 8414 section 2: a missing list says nothing; many servers omit it.
        if let list = fields[methods], list != .null {
            guard case .array(let methods) = list else { throw .invalidAnswer(reason: methods) }
            endpoints.takesS256 = methods.contains(.string("S256"))
        }
        if case .object(let fields)? = fields[aliases] {
            endpoints.aliases.token = try url("token_endpoint", in: fields)
            endpoints.aliases.deviceAuthorization =
                try url("device_authorization_endpoint", in: fields)
            endpoints.aliases.revocation = try url("revocation_endpoint", in: fields)
        }
        return endpoints
    }

    private static func places(_ issuer: URL) -> [URL] {
        guard let target = try? RequestTarget(issuer) else { return [] }
        let text = target.urlText
        let origin = text.dropLast(target.pathAndQuery.count)
        // Both specifications remove a final slash.
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
