// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingSupport
public import DataLoading
import Foundation

/// A user name and a password for Basic authentication (RFC 7617).
///
/// Attached to a request, they take precedence for that request and for redirects within its
/// origin:
///
/// ```swift
/// let credentials = try BasicCredentials(username: "ada", password: secret)
/// request[option: BasicCredentials.self] = credentials
/// ```
public struct BasicCredentials: Hashable, Sendable, OpaquelyMirrored {
    /// The user name; sent in UTF-8, with accents composed (NFC).
    public let username: String
    /// The password; sent in UTF-8, with accents composed (NFC).
    public let password: String

    /// Makes credentials.
    ///
    /// - Throws: `.invalidConfiguration` for a user name with a colon, which Basic cannot carry,
    ///   and for control characters in either (RFC 7617 section 2).
    public init(username: String, password: String) throws(AuthorisationError) {
        guard !username.utf8.contains(UInt8(ascii: ":")) else {
            throw .invalidConfiguration(reason: "a colon in the user name")
        }
        let isControl = { (byte: UInt8) in byte < 0x20 || byte == 0x7F }
        guard !username.utf8.contains(where: isControl), !password.utf8.contains(where: isControl)
        else { throw .invalidConfiguration(reason: "a control character") }
        self.username = username
        self.password = password
    }

    /// The value of `Authorization`.
    var fieldValue: String {
        // RFC 7617 section 2.1 with RFC 8265: strings that look the same are sent as the same
        // bytes.
        let pair = "\(username):\(password)".precomposedStringWithCanonicalMapping
        return "Basic " + Data(pair.utf8).base64EncodedString()
    }
}

extension BasicCredentials: RequestOption {
    /// Nil: none.
    public static var defaultValue: BasicCredentials? { nil }
    /// True: they were set for one origin.
    public static var staysWithOrigin: Bool { true }
}

extension BasicCredentials: Codable {
    private enum CodingKeys: CodingKey {
        case username
        case password
    }

    /// Decodes what `encode` wrote; throws `AuthorisationError` as `init(username:password:)` does.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            username: container.decode(String.self, forKey: .username),
            password: container.decode(String.self, forKey: .password))
    }

    /// Encodes both, the password in plain text: store them where no other user can read.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(username, forKey: .username)
        try container.encode(password, forKey: .password)
    }
}

extension BasicCredentials: CustomStringConvertible {
    /// A fixed text without the content.
    public var description: String { "Basic credentials" }
}
