// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What a person has to do on another device (RFC 8628 section 3.2).
public struct DeviceCode: Hashable, Sendable {
    /// The code to be entered.
    public let userCode: String
    /// Where to enter it.
    public let verificationURL: URL
    /// The same with the code in it, for a QR code; nil when the server has none.
    public let completeURL: URL?
    /// How long the code is good.
    public let lifetime: Duration
    /// How long to wait between two questions.
    let interval: Duration
    /// What this program shows, and nobody else sees.
    let deviceCode: String

    /// Makes a code that no server has issued: for tests of a delegate.
    public init(
        userCode: String, verificationURL: URL, completeURL: URL? = nil,
        lifetime: Duration = .seconds(600)
    ) {
        self.userCode = userCode
        self.verificationURL = verificationURL
        self.completeURL = completeURL
        self.lifetime = lifetime
        interval = .seconds(5)
        deviceCode = ""
    }

    init(_ fields: [String: JSONValue]) throws(AuthorisationError) {
        guard let deviceCode = TokenAnswer.text(fields["device_code"]) else {
            throw .invalidAnswer(reason: "device_code")
        }
        // It is shown as it is, perhaps on a terminal.
        guard let userCode = TokenAnswer.text(fields["user_code"]),
            userCode.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { throw .invalidAnswer(reason: "user_code") }
        // Some servers still use the draft's name.
        let place = fields["verification_uri"] ?? fields["verification_url"]
        guard let url = Self.page(place) else {
            throw .invalidAnswer(reason: "verification_uri")
        }
        guard let lifetime = TokenAnswer.seconds(fields["expires_in"]) else {
            throw .invalidAnswer(reason: "expires_in")
        }
        self.deviceCode = deviceCode
        self.userCode = userCode
        verificationURL = url
        completeURL = Self.page(fields["verification_uri_complete"])
        self.lifetime = lifetime
        // Section 3.2: five seconds unless the server says otherwise.
        interval = max(.seconds(1), TokenAnswer.seconds(fields["interval"]) ?? .seconds(5))
    }

    /// A page that a person may be led to: over https, or on this machine.
    private static func page(_ value: JSONValue?) -> URL? {
        let scope = HostScope([], allowsPlainLoopback: true)
        guard let url = TokenAnswer.text(value).flatMap(URL.init(string:)),
            scope.isSafe(DataLoaderRequest(url: url))
        else { return nil }
        return url
    }
}

extension DeviceCode: CustomStringConvertible {
    /// What the person may see.
    public var description: String { "\(verificationURL.redactedText) \(userCode)" }
}
