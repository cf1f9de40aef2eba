// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Reads the session's form of a head, and refuses ambiguous responses.
enum URLSessionHead {
    /// Returns the head with its fields sorted by name: their order on the wire is lost.
    static func read(
        _ response: URLResponse, limit: Int
    ) throws(DataLoaderError) -> ResponseHead {
        guard let response = response as? HTTPURLResponse else {
            throw .framing(reason: "not a response of HTTP")
        }
        guard 100...999 ~= response.statusCode, response.statusCode != 101 else {
            throw .framing(reason: "status code")
        }
        var fields: [HTTPHeaders.Field] = []
        var size = 0
        for (name, value) in response.allHeaderFields {
            guard let name = name as? String, let value = value as? String,
                !name.isEmpty, name.utf8.allSatisfy(\.isTokenCharacter),
                value.utf8.allSatisfy({ $0 != 0 && $0 != 0x0D && $0 != 0x0A })
            else { throw .framing(reason: "header") }
            size += name.utf8.count + value.utf8.count + 4
            fields.append(HTTPHeaders.Field(name: name, value: value))
        }
        guard size <= limit, fields.count <= ResponseGuard.fieldLimit else {
            throw .headTooLarge
        }
        fields.sort { $0.name < $1.name }
        let head = ResponseHead(
            status: HTTPStatus(rawValue: response.statusCode), headers: HTTPHeaders(fields))
        if let lengths = head.headers["Content-Length"] {
            guard !head.headers.contains("Transfer-Encoding") else {
                throw .framing(reason: "Content-Length with Transfer-Encoding")
            }
            _ = try length(lengths)
        }
        return head
    }

    /// Refuses a body whose declared length is above the limit.
    static func check(
        _ head: ResponseHead, of request: TransportRequest
    ) throws(DataLoaderError) {
        guard request.method != .head, head.status.rawValue != 204, head.status.rawValue != 304,
            let limit = request.bodyLimit, !head.headers.contains("Content-Encoding"),
            let text = head.headers["Content-Length"]
        else { return }
        guard try length(text) <= limit else { throw .bodyTooLarge(limit: limit) }
    }

    /// Parses lengths, which come joined and must be equal.
    private static func length(_ text: String) throws(DataLoaderError) -> Int64 {
        var length: Int64?
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let digits = part.drop { $0 == " " }
            guard !digits.isEmpty, digits.utf8.allSatisfy(\.isDigit), let value = Int64(digits),
                length == nil || length == value
            else { throw .framing(reason: "Content-Length") }
            length = value
        }
        guard let length else { throw .framing(reason: "Content-Length") }
        return length
    }
}
