// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The name of an authentication method, by which a request chooses its authorisers.
///
/// ```swift
/// let partner = AuthenticationMethod(rawValue: "partner")
/// let token = StaticTokenAuthoriser(
///     token: secret, hosts: ["api.example.com"], method: partner)
/// let factory = service.makeFactory(authorisers: [token])
/// request.authenticationMethods = [partner]
/// ```
///
/// An authoriser with a method is asked only about requests that name the method. A request that
/// names a method which no authoriser of its factory has ends `.cannotAuthenticate`, and no
/// authoriser is asked.
public struct AuthenticationMethod: RawRepresentable, Hashable, Sendable {
    /// The name, for logs.
    public var rawValue: String

    /// Makes a method.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}
