// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// A challenge of a 401, from `WWW-Authenticate` (RFC 9110 section 11.6.1).
struct AuthenticationChallenge: Equatable, Sendable {
    /// The scheme in lower case: `basic`, `bearer`.
    let scheme: String
    /// The parameters by name in lower case; of two with one name the first.
    private(set) var parameters: [String: String] = [:]

    /// The maximum number of challenges, more than any server sends; further ones are ignored.
    private static let most = 32

    /// Whether a server accepts the token but asks for a wider scope (RFC 6750 section 3.1).
    static func indicatesInsufficientScope(_ headers: HTTPHeaders) -> Bool {
        all(in: headers).contains {
            $0.scheme == "bearer" && $0.parameters["error"] == "insufficient_scope"
        }
    }

    /// The challenges of a response, in their order.
    static func all(in headers: HTTPHeaders) -> [AuthenticationChallenge] {
        var found: [AuthenticationChallenge] = []
        for value in headers.values(for: "WWW-Authenticate") { read(value, into: &found) }
        return found
    }

    /// Parses a list in which commas separate both challenges and their parameters.
    ///
    /// The rest of a value after a syntax error is ignored.
    private static func read(_ text: String, into found: inout [AuthenticationChallenge]) {
        var reader = ByteReader(Substring(text))
        let begin = found.count
        while true {
            _ = reader.take(while: { $0 == UInt8(ascii: ",") || $0.isBlank })
            let name = String(reader.take(while: \.isTokenCharacter)).asciiLowercased
            guard !name.isEmpty else { return }
            var ahead = reader
            _ = ahead.take(while: \.isBlank)
            if ahead.next == UInt8(ascii: "="), found.count > begin {
                guard let value = ahead.takeValue() else { return }
                reader = ahead
                let last = found.count - 1
                if found[last].parameters[name] == nil { found[last].parameters[name] = value }
            } else {
                guard found.count < most else { return }
                found.append(AuthenticationChallenge(scheme: name))
                reader = ahead
                reader.skipToken68()
            }
        }
    }
}

extension ByteReader {
    /// Takes `=` and a parameter's value; nil when it is neither a token nor a quoted string.
    fileprivate mutating func takeValue() -> String? {
        guard take("=") else { return nil }
        _ = take(while: \.isBlank)
        guard take("\"") else {
            let token = take(while: \.isTokenCharacter)
            return token.isEmpty ? nil : String(token)
        }
        var value: [UInt8] = []
        while let byte = takeByte() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: value, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = takeByte() else { return nil }
                value.append(escaped)
            default: value.append(byte)
            }
        }
        return nil
    }

    /// Skips the token68 value that some schemes have instead of parameters, if there is one.
    fileprivate mutating func skipToken68() {
        var ahead = self
        let isAny = !ahead.take(while: \.isToken68).isEmpty
        _ = ahead.take(while: { $0 == UInt8(ascii: "=") })
        _ = ahead.take(while: \.isBlank)
        guard isAny, ahead.isAtEnd || ahead.next == UInt8(ascii: ",") else { return }
        self = ahead
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == 0x20 || self == 0x09 }

    fileprivate var isToken68: Bool {
        self == UInt8(ascii: "/")
            || isTokenCharacter && !"!#$%&'*^`|".utf8.contains(self)
    }
}
