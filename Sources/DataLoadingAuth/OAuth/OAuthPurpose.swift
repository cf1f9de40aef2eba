// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// The server, client and request that credentials are issued for.
struct OAuthPurpose: Sendable {
    private let server: String
    private let client: String
    private let request: String

    init(_ configuration: OAuthConfiguration) {
        server = configuration.server.name
        client = configuration.clientIdentifier
        let scopes = Set(configuration.scopes).sorted().joined(separator: " ")
        let parameters = configuration.tokenParameters + configuration.loginParameters
        let fields = [("scope", scopes)] + parameters.map { ($0.name, $0.value) }
        request = String(decoding: FormEncoding.encode(fields), as: UTF8.self)
    }

    /// Writes itself into new credentials.
    func mark(_ credentials: inout OAuthCredentials) {
        credentials.server = server
        credentials.client = client
        credentials.request = request
    }

    /// Whether the credentials are for the same request to the same server by the same client.
    func covers(_ credentials: OAuthCredentials) -> Bool {
        hasIssuer(of: credentials) && credentials.request.map { $0 == request } ?? true
    }

    /// Whether the same server has issued the credentials to the same client.
    func hasIssuer(of credentials: OAuthCredentials) -> Bool {
        (credentials.server.map { $0 == server } ?? true)
            && (credentials.client.map { $0 == client } ?? true)
    }
}

extension OAuthConfiguration {
    /// The purpose of this configuration's credentials.
    var purpose: OAuthPurpose { OAuthPurpose(self) }
}
