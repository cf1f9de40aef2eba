// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// The type of a client assertion that is a JSON Web Token (RFC 7523 section 2.2).
enum ClientAssertion {
    static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
}

extension [(String, String)] {
    /// Appends further fields; throws when one of them is set already.
    ///
    /// RFC 6749 section 3.1 forbids to send a parameter twice. A further field may occur several
    /// times, as `resource` does (RFC 8707 section 2).
    func adding(_ further: [(String, String)]) throws(AuthorisationError) -> Self {
        for (name, _) in further where contains(where: { $0.0 == name }) {
            throw .invalidConfiguration(
                reason: "the parameter \(TokenAnswer.code(name)) is set twice")
        }
        return self + further
    }

    /// Appends the parameters of a configuration.
    func adding(
        parameters: [(name: String, value: String)]
    ) throws(AuthorisationError) -> Self {
        try adding(parameters.map { ($0.name, $0.value) })
    }
}
