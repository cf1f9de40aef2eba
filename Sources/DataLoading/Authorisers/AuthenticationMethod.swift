// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The name of a way to authenticate, under which a `CompositeAuthoriser` has an authoriser.
///
/// ```swift
/// let partner = AuthenticationMethod(rawValue: "partner")
/// request[option: AuthenticationMethod.self] = [partner]
/// ```
public struct AuthenticationMethod: RawRepresentable, Hashable, Sendable {
    /// The name, for logs.
    public var rawValue: String

    /// Makes a method of your own.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Basic.
    public static let basic = AuthenticationMethod(rawValue: "basic")
    /// A bearer token.
    public static let bearer = AuthenticationMethod(rawValue: "bearer")
    /// OAuth 2.
    public static let oauth = AuthenticationMethod(rawValue: "oauth")
}

extension AuthenticationMethod: RequestOption {
    /// None: a composite authoriser passes the request on as it is.
    public static var defaultValue: [AuthenticationMethod] { [] }
    /// False: who is asked decides by its hosts.
    public static var staysWithOrigin: Bool { false }
}
