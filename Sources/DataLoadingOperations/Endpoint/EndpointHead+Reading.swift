// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport

extension EndpointHead {
    /// The maximum number of bytes of a head.
    static let limit = 8_192

    /// Reads a head strictly (RFC 9112): every line ends in CR LF, no field is folded, and there is
    /// one `Host`.
    static func read(_ bytes: some RandomAccessCollection<UInt8>) -> EndpointHead {
        let end = Array("\r\n\r\n".utf8)
        guard let last = bytes.prefix(limit).firstRange(of: end) else {
            return bytes.count < limit ? .incomplete : .refused(.headTooLarge)
        }
        var lines = bytes[..<last.lowerBound].split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false
        )[...]
        let length = bytes.distance(from: bytes.startIndex, to: last.upperBound)
        // The split leaves a CR at the end of each line but the last, whose CR is part of `end`.
        let first = lines.popFirst().map { line(Array($0), isLast: lines.isEmpty) } ?? nil
        guard let first, let words = words(of: first) else { return .refused(.badRequest) }
        var headers = HTTPHeaders()
        while let next = lines.popFirst() {
            guard let field = line(Array(next), isLast: lines.isEmpty).flatMap(field) else {
                return .refused(.badRequest)
            }
            headers.add(field.value, for: field.name)
        }
        return judge(words, headers, length: length)
    }

    private typealias Words = (method: String, target: String, version: String)

    private static func line(_ bytes: [UInt8], isLast: Bool) -> ArraySlice<UInt8>? {
        guard !isLast else { return bytes.contains(0x0D) ? nil : bytes[...] }
        guard bytes.last == 0x0D else { return nil }
        let line = bytes.dropLast()
        return line.contains(0x0D) ? nil : line
    }

    private static func words(of line: ArraySlice<UInt8>) -> Words? {
        let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 3, !words[0].isEmpty, words[0].allSatisfy(\.isTokenCharacter),
            words[1].allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        let texts = words.map { String(decoding: $0, as: UTF8.self) }
        return (texts[0], texts[1], texts[2])
    }

    private static func field(_ line: ArraySlice<UInt8>) -> (name: String, value: String)? {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let name = line[..<colon]
        let value = line[line.index(after: colon)...]
        guard !name.isEmpty, name.allSatisfy(\.isTokenCharacter),
            value.allSatisfy(\.isFieldValueByte)
        else { return nil }
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let start = value.drop(while: isBlank)
        let trimmed = start.lastIndex { !isBlank($0) }.map { start[...$0] } ?? []
        return (String(decoding: name, as: UTF8.self), String(decoding: trimmed, as: UTF8.self))
    }

    private static func judge(_ words: Words, _ headers: HTTPHeaders, length: Int) -> EndpointHead {
        guard words.version == "HTTP/1.1" || words.version == "HTTP/1.0" else {
            return .refused(
                words.version.hasPrefix("HTTP/") ? .versionNotSupported : .badRequest)
        }
        // `https://host/path` is for proxies, and `*` for the whole server.
        guard words.target.first == "/", headers.values(for: "Host").count == 1 else {
            return .refused(.badRequest)
        }
        let options = (headers["Connection"] ?? "").asciiLowercased
        let refusal = refusal(of: words.method, headers)
        return .request(
            EndpointRequest(
                isHead: words.method == "HEAD",
                path: words.target.prefix { $0 != "?" }, headers: headers,
                keepsAlive: refusal == nil && words.version == "HTTP/1.1"
                    && !options.contains("close"),
                refusal: refusal),
            length: length)
    }

    private static func refusal(of method: String, _ headers: HTTPHeaders) -> EndpointStatus? {
        guard method == "GET" || method == "HEAD" else { return .methodNotAllowed }
        let lengths = headers.values(for: "Content-Length")
        let hasBody = headers["Transfer-Encoding"] != nil || !lengths.allSatisfy { $0 == "0" }
        return hasBody ? .contentTooLarge : nil
    }
}
