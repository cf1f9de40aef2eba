// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoading

/// A request's head, and what it says about the body and the connection.
struct RequestHead {
    enum Framing: Equatable {
        case none
        case length(Int64)
        case chunked
    }

    /// The maximum size of a head in bytes.
    static let limit = 1_048_576

    let method: HTTPMethod
    let target: String
    let version: String
    let headers: HTTPHeaders
    let raw: [UInt8]
    let framing: Framing

    /// Parses a head strictly, so that a test detects every wrong byte.
    ///
    /// Nil unless the first line is `method SP target SP HTTP/1.x`, every field is valid, and the
    /// body's length is valid and stated at most once.
    init?(_ raw: [UInt8]) {
        self.raw = raw
        let lines = raw.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let parts = lines[0].withoutLineEnd.split(
            separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].isToken, !parts[1].isEmpty else { return nil }
        method = HTTPMethod(rawValue: String(decoding: parts[0], as: UTF8.self))
        target = String(decoding: parts[1], as: UTF8.self)
        version = String(decoding: parts[2], as: UTF8.self)
        guard version == "HTTP/1.1" || version == "HTTP/1.0" else { return nil }
        // The last two pieces are the empty line and the rest after its line feed.
        guard let headers = Self.fields(lines.dropFirst().dropLast(2)) else { return nil }
        self.headers = headers
        guard let framing = Self.framing(headers) else { return nil }
        self.framing = framing
    }

    /// Whether the connection may serve another request after this one.
    var keepsAlive: Bool {
        let options = headers["Connection"] ?? ""
        return version == "HTTP/1.1"
            ? !options.hasOption("close") : options.hasOption("keep-alive")
    }

    var expectsContinue: Bool {
        framing != .none && (headers["Expect"] ?? "").hasOption("100-continue")
    }

    /// Parses field lines; nil when one is invalid.
    static func fields(_ lines: some Sequence<ArraySlice<UInt8>>) -> HTTPHeaders? {
        var headers = HTTPHeaders()
        for line in lines {
            let line = line.withoutLineEnd
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            let name = line[..<colon]
            let value = line[(colon + 1)...].withoutOuterBlanks
            guard name.isToken, value.allSatisfy(\.isFieldValueByte) else { return nil }
            headers.add(
                String(decoding: value, as: UTF8.self), for: String(decoding: name, as: UTF8.self))
        }
        return headers
    }

    private static func framing(_ headers: HTTPHeaders) -> Framing? {
        let lengths = headers.values(for: "Content-Length")
        if let coding = headers["Transfer-Encoding"] {
            return lengths.isEmpty && coding.equalsIgnoringASCIICase("chunked") ? .chunked : nil
        }
        guard let length = lengths.first else { return Framing.none }
        guard lengths.count == 1, length.utf8.allSatisfy(\.isDigit) else { return nil }
        return Int64(length).map { .length($0) }
    }
}

extension ArraySlice<UInt8> {
    var withoutLineEnd: ArraySlice {
        var line = self
        if line.last == UInt8(ascii: "\n") { line.removeLast() }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        return line
    }

    var isToken: Bool { !isEmpty && allSatisfy(\.isTokenCharacter) }

    fileprivate var withoutOuterBlanks: ArraySlice {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        let tail = drop(while: isBlank)
        return tail.lastIndex { !isBlank($0) }.map { tail[...$0] } ?? []
    }
}

extension String {
    /// Whether a comma-separated list has an element, without regard to case.
    func hasOption(_ option: String) -> Bool {
        split(separator: ",").contains {
            String($0.drop { $0 == " " }.prefix { $0 != " " }).equalsIgnoringASCIICase(option)
        }
    }
}
