// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingSupport
import DataLoading
public import Foundation

/// The code that a person enters on another device (RFC 8628 section 3.2).
public struct DeviceCode: Hashable, Sendable, OpaquelyMirrored {
    /// The code to enter.
    public let userCode: String
    /// The page to enter it on.
    public let verificationURL: URL
    /// The page with the code in its URL, for a QR code; nil when the server sends none.
    public let completeURL: URL?
    /// The lifetime of the code.
    public let lifetime: Duration
    /// The pause between two polls.
    let interval: Duration
    /// The secret code of this program's polls; no user sees it.
    let deviceCode: String

    /// Makes a code that no server has issued, for tests of a delegate.
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
        // It is displayed unchanged, possibly on a terminal.
        guard let userCode = TokenAnswer.text(fields["user_code"]),
            userCode.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { throw .invalidAnswer(reason: "user_code") }
        // Some servers still use the name of the draft.
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
        // Section 3.2: five seconds unless the server sends another interval.
        interval = max(.seconds(1), TokenAnswer.seconds(fields["interval"]) ?? .seconds(5))
    }

    /// A page that a person may be sent to: over https, or on this machine.
    private static func page(_ value: JSONValue?) -> URL? {
        let scope = HostScope([], allowsPlainLoopback: true)
        guard let url = TokenAnswer.text(value).flatMap(URL.init(string:)),
            scope.isSafe(DataLoaderRequest(url: url))
        else { return nil }
        return url
    }
}

extension DeviceCode: CustomStringConvertible {
    /// The parts that the person may see.
    public var description: String { "\(verificationURL.redactedText) \(userCode)" }
}
