// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Parses response heads line by line, and refuses ambiguous responses.
///
/// libcurl 7.88 takes a head that ends early as complete, and picks one of two lengths. Two readers
/// of such a response disagree about its end, which makes request smuggling possible.
package struct ResponseGuard {
    package enum Event {
        case informational(ResponseHead)
        case final(ResponseHead)
    }

    /// How the framing of a response delimits its body.
    package enum Framing: Equatable {
        case length(Int64)
        case chunked
        case untilClose
    }

    package static let fieldLimit = 1_000
    package static let informationalLimit = 32

    /// The bytes of all lines so far.
    package private(set) var bytes = 0
    /// Whether the final head's empty line has arrived.
    package private(set) var isComplete = false
    /// The final head's framing, once complete.
    package private(set) var framing = Framing.untilClose
    /// The minor version in the last status line; nil for HTTP/2.
    package private(set) var minorVersion: UInt8?

    /// Whether the status is 417: a server or a proxy does not support `Expect`.
    package var refusesExpectation: Bool { isComplete && status == 417 }

    /// Whether the final head has a Content-Encoding.
    package private(set) var isEncoded = false

    private let byteLimit: Int
    /// Whether a proxy answers to CONNECT.
    ///
    /// A success has no body, whatever its fields say, and they must be ignored (RFC 9110 section 9.3.6).
    private let isTunnel: Bool
    package var allowsHTTP2: Bool
    private var fieldCount = 0
    private var informationalCount = 0
    private var status = 0
    private var fields: [HTTPHeaders.Field] = []
    private var contentLength: Int64?
    private var transferCoding: Bool = false
    private var mayFold = false
    private let memory: FieldMemory?
    /// The number of lines so far that the memory has.
    private var remembered = 0

    package init(
        byteLimit: Int, allowsHTTP2: Bool = false, isTunnel: Bool = false,
        memory: FieldMemory? = nil
    ) {
        self.byteLimit = byteLimit
        self.isTunnel = isTunnel
        self.allowsHTTP2 = allowsHTTP2
        self.memory = memory
    }

    /// Parses one line with its end; returns an event after an empty line.
    package mutating func receive(_ line: UnsafeRawBufferPointer) throws(DataLoaderError) -> Event?
    {
        bytes += line.count
        guard bytes <= byteLimit else { throw .headTooLarge }
        let content = Self.withoutLineEnd(line)
        if isComplete {
            if !content.isEmpty { try addField(content) }
            return nil
        }
        if status == 0 {
            try readStatusLine(content)
            return nil
        }
        guard content.isEmpty else {
            try addField(content)
            return nil
        }
        return try endHead()
    }

    private mutating func endHead() throws(DataLoaderError) -> Event {
        let head = ResponseHead(
            status: HTTPStatus(rawValue: status), headers: HTTPHeaders(fields))
        guard status >= 200 else {
            // The transport never asks for another protocol.
            guard status != 101 else { throw .framing(reason: "unasked 101") }
            informationalCount += 1
            guard informationalCount <= Self.informationalLimit else {
                throw .framing(reason: "too many informational responses")
            }
            status = 0
            contentLength = nil
            transferCoding = false
            isEncoded = false
            fields.removeAll()
            remembered = 0
            return .informational(head)
        }
        if transferCoding {
            guard contentLength == nil else {
                throw .framing(reason: "Content-Length with Transfer-Encoding")
            }
            guard minorVersion == 1 else {
                throw .framing(reason: "Transfer-Encoding before HTTP/1.1")
            }
            framing = .chunked
        } else if let contentLength {
            framing = .length(contentLength)
        }
        isComplete = true
        mayFold = false
        fields = []
        return .final(head)
    }

    private mutating func readStatusLine(
        _ line: UnsafeRawBufferPointer
    ) throws(DataLoaderError) {
        let digits: Int
        if line.starts(with: "HTTP/1.1 ") {
            minorVersion = 1
            digits = 9
        } else if line.starts(with: "HTTP/1.0 ") {
            minorVersion = 0
            digits = 9
        } else if allowsHTTP2, line.starts(with: "HTTP/2 ") {
            // libcurl writes this line for HTTP/2. Over HTTP/1, 7.88 accepts it from a server.
            minorVersion = nil
            digits = 7
        } else {
            throw .framing(reason: "status line")
        }
        guard line.count >= digits + 3, line[digits...].prefix(3).allSatisfy(\.isDigit),
            line.count == digits + 3 || line[digits + 3] == UInt8(ascii: " ")
        else { throw .framing(reason: "status line") }
        status = line[digits...].prefix(3).reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        guard status >= 100 else { throw .framing(reason: "status code") }
        mayFold = false
        fields.reserveCapacity(12)
    }

    private mutating func addField(_ line: UnsafeRawBufferPointer) throws(DataLoaderError) {
        // A folded line counts too: each one may be copied to a longer value.
        fieldCount += 1
        guard fieldCount <= Self.fieldLimit else { throw .headTooLarge }
        if line[0] == UInt8(ascii: " ") || line[0] == UInt8(ascii: "\t") {
            return try fold(line)
        }
        if !isComplete, let field = memory?.field(at: remembered, like: line) {
            remembered += 1
            mayFold = true
            return fields.append(field)
        }
        guard let colon = line.firstIndex(where: { !$0.isTokenCharacter }), colon > 0,
            line[colon] == UInt8(ascii: ":")
        else { throw .framing(reason: "header name") }
        let name = UnsafeRawBufferPointer(rebasing: line[..<colon])
        let value = Self.trimmed(line[(colon + 1)...])
        let text = try Self.text(value)
        mayFold = true
        if isComplete { return }
        let field = HTTPHeaders.Field(name: String(decoding: name, as: UTF8.self), value: text)
        fields.append(field)
        if isTunnel, (200..<300).contains(status) { return }
        if name.count == 14, Self.isEqual(name, "content-length") {
            try setLength(value)
        } else if name.count == 17, Self.isEqual(name, "transfer-encoding") {
            try setTransferCoding(value)
        } else if name.count == 16, Self.isEqual(name, "content-encoding") {
            isEncoded = true
        } else {
            remember(field, name, line)
        }
    }

    private mutating func remember(
        _ field: HTTPHeaders.Field, _ name: UnsafeRawBufferPointer, _ line: UnsafeRawBufferPointer
    ) {
        // The secret that is most usual is not kept longer than the response that has it.
        guard let memory, !Self.isEqual(name, "set-cookie") else { return }
        if memory.remember(field, at: remembered, line) { remembered += 1 }
    }

    /// Joins an obsolete continuation line to the field before it.
    private mutating func fold(_ line: UnsafeRawBufferPointer) throws(DataLoaderError) {
        let text = try Self.text(Self.trimmed(line[...]))
        guard mayFold else { throw .framing(reason: "folded line") }
        if isComplete { return }
        guard !fields.isEmpty else { throw .framing(reason: "folded line") }
        guard !text.isEmpty else { return }
        // A value has no white space around it, even where its first line is empty.
        let last = fields.count - 1
        if !fields[last].value.isEmpty { fields[last].value += " " }
        fields[last].value += text
    }

    private mutating func setLength(_ value: UnsafeRawBufferPointer) throws(DataLoaderError) {
        guard !value.isEmpty else { throw .framing(reason: "Content-Length") }
        var length: Int64 = 0
        for byte in value {
            guard byte.isDigit else { throw .framing(reason: "Content-Length") }
            let (scaled, overflow) = length.multipliedReportingOverflow(by: 10)
            let (sum, sumOverflow) = scaled.addingReportingOverflow(
                Int64(byte - UInt8(ascii: "0")))
            guard !overflow, !sumOverflow else { throw .framing(reason: "Content-Length") }
            length = sum
        }
        guard contentLength == nil || contentLength == length else {
            throw .framing(reason: "two values of Content-Length")
        }
        contentLength = length
        // A continuation could change the number after libcurl has read it.
        mayFold = false
    }

    private mutating func setTransferCoding(
        _ value: UnsafeRawBufferPointer
    ) throws(DataLoaderError) {
        guard !transferCoding else { throw .framing(reason: "Transfer-Encoding twice") }
        guard Self.isEqual(value, "chunked") else { throw .framing(reason: "Transfer-Encoding") }
        transferCoding = true
        mayFold = false
    }
}
