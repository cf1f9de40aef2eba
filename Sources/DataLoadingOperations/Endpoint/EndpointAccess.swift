// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport

/// Decides who is answered.
///
/// A browser on the machine may be made to send requests here by any page. It cannot choose `Host`
/// against its own idea of the address, nor `Origin`, nor add a token.
struct EndpointAccess {
    /// How many wrong tokens are told so in a minute.
    private static let maxWrongTokens = 10
    private static let window = Duration.seconds(60)
    private static let localNames = ["localhost", "127.0.0.1", "[::1]"]

    /// The bytes of the token; nil where the socket's mode decides.
    private let token: [UInt8]?
    private let hosts: Set<String>
    /// The port that must follow the name; nil where another program forwards from any port.
    private let port: UInt16?
    private var wrongTokens = 0
    private var windowEnd = Instant(nanoseconds: .min)

    init(token: String?, hosts: Set<String>, port: UInt16?) {
        self.token = token.map { Array($0.utf8) }
        self.hosts = Set(hosts.map(\.asciiLowercased))
        self.port = port
    }

    /// Why a request is not answered; nil when it is.
    mutating func refusal(
        of request: EndpointRequest, needsToken: Bool, at now: Instant
    ) -> EndpointStatus? {
        let host = (request.headers["Host"] ?? "").asciiLowercased
        guard isKnown(host) else { return .forbidden }
        let origins = request.headers.values(for: "Origin")
        guard origins.allSatisfy({ $0.asciiLowercased == "http://" + host }) else {
            return .forbidden
        }
        guard needsToken, let token else { return nil }
        guard !hasToken(token, request) else { return nil }
        return wrongTokenStatus(at: now)
    }

    private func isKnown(_ host: String) -> Bool {
        if hosts.contains(host) { return true }
        return Self.localNames.contains { name in
            guard host.hasPrefix(name) else { return false }
            let rest = host.dropFirst(name.count)
            // Port 80 is left out by clients.
            guard let port else { return rest.isEmpty || rest.first == ":" }
            return rest == ":\(port)" || (port == 80 && rest.isEmpty)
        }
    }

    private func hasToken(_ token: [UInt8], _ request: EndpointRequest) -> Bool {
        let fields = request.headers.values(for: "Authorization")
        guard fields.count == 1, let field = fields.first else { return false }
        let words = field.split(separator: " ", maxSplits: 1)
        guard words.count == 2, String(words[0]).equalsIgnoringASCIICase("bearer") else {
            return false
        }
        return Self.isSame(token, Array(words[1].utf8))
    }

    /// Compares in a time that depends on the lengths only.
    private static func isSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// The right token is answered in any case: no client can lock the operator out.
    private mutating func wrongTokenStatus(at now: Instant) -> EndpointStatus {
        if now >= windowEnd {
            windowEnd = now + Self.window
            wrongTokens = 0
        }
        guard wrongTokens < Self.maxWrongTokens else { return .tooManyRequests }
        wrongTokens += 1
        return .unauthorised
    }
}
