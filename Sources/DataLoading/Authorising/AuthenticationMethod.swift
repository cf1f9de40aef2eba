// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The name of an authentication method, by which a request chooses its authorisers.
///
/// ```swift
/// let token = StaticTokenAuthoriser(
///     token: secret, hosts: ["api.example.com"], method: .bearer)
/// let factory = service.makeFactory(authorisers: [token])
/// request[option: AuthenticationMethod.self] = [.bearer]
/// ```
///
/// Methods without a constant below have names of your own:
///
/// ```swift
/// let partner = AuthenticationMethod(rawValue: "partner")
/// request[option: AuthenticationMethod.self] = [partner]
/// ```
///
/// An authoriser with a method is asked only about requests that name the method. A request that
/// names a method which no authoriser of its factory has ends `.cannotAuthenticate`, and no
/// authoriser is asked.
public struct AuthenticationMethod: RawRepresentable, Hashable, Sendable {
    /// The name, for logs.
    public var rawValue: String

    /// Makes a method of your own.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The Basic scheme.
    public static let basic = AuthenticationMethod(rawValue: "basic")
    /// A bearer token.
    public static let bearer = AuthenticationMethod(rawValue: "bearer")
    /// The OAuth 2 protocol.
    public static let oauth = AuthenticationMethod(rawValue: "oauth")
}

extension AuthenticationMethod: RequestOption {
    /// Empty: authorisers with a method are not asked.
    public static var defaultValue: [AuthenticationMethod] { [] }
    /// False: each authoriser decides by its hosts.
    public static var staysWithOrigin: Bool { false }
}
