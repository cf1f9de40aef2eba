// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// A response whose body broke off, with the data to ask for the rest and to recognise it.
struct BrokenResponse: Sendable {
    /// The head of the whole response.
    let head: ResponseHead
    /// The error that broke it first.
    let error: DataLoaderError
    /// The bytes that were kept of a body that is delivered whole.
    var partial = Data()
    /// The number of bytes of the body that were there when the last attempt broke.
    private var position: Int64 = 0
    /// Whether the attempt that broke last received enough bytes that its retry is free.
    private(set) var hasProgressed = false
    private let validator: Validator

    private enum Validator: Equatable, Sendable {
        case entityTag(String)
        case lastModified(String)

        var text: String {
            switch self {
            case .entityTag(let text), .lastModified(let text): text
            }
        }
    }

    /// The meaning of the response to a range.
    enum Meaning: Equatable {
        /// It is the rest, or the next part of it.
        case rest(ContentRange)
        /// It is the whole from its start.
        case whole
        /// It answers the range, but cannot be used.
        case useless
        /// It says nothing about the range.
        case other
    }

    /// Makes it from a response that broke; nil when the response cannot be resumed.
    init?(_ head: ResponseHead, to request: DataLoaderRequest, error: DataLoaderError) {
        let headers = head.headers
        guard !head.mayLackPieces, head.status == .ok, request.method == .get,
            !request.headers.contains("Range"),
            !request.headers.contains("If-Range"), request.resumesBrokenBodies,
            !headers.contains("Content-Encoding"),
            headers["Accept-Ranges"]?.equalsIgnoringASCIICase("none") != true,
            let validator = Self.validator(in: headers)
        else { return nil }
        self.head = head
        self.error = error
        self.validator = validator
    }

    /// The number of bytes that an attempt must receive so that the retry after it is free.
    ///
    /// The budget limits attempts that receive less: a server that breaks every response after a
    /// few bytes is in trouble, and each attempt costs it a connection.
    static let smallestProgress: Int64 = 65_536

    /// Records that an attempt broke with this number of bytes of the body.
    mutating func noteBreak(at received: Int64) {
        hasProgressed = received - position >= Self.smallestProgress
        position = received
    }

    /// Resets the progress of the last attempt, because another one begins.
    mutating func beginAttempt() {
        hasProgressed = false
    }

    /// Makes a request ask for the bytes after a position.
    func resume(_ request: inout DataLoaderRequest, at position: Int64) {
        request.headers["Range"] = "bytes=\(position)-"
        request.headers["If-Range"] = validator.text
        // The positions are those of the body without a content coding.
        if !request.headers.contains("Accept-Encoding") {
            request.headers["Accept-Encoding"] = "identity"
        }
    }

    /// Returns the meaning of the response to a range that begins at a position.
    func meaning(of answer: ResponseHead, at position: Int64) -> Meaning {
        switch answer.status {
        case .ok:
            // The transport does not decode it, because the request has an `Accept-Encoding` field.
            return answer.headers.contains("Content-Encoding") ? .useless : .whole
        case .partialContent:
            return part(answer, at: position).map { .rest($0) } ?? .useless
        default:
            return answer.status.rawValue == 416 ? .useless : .other
        }
    }

    private func part(_ answer: ResponseHead, at position: Int64) -> ContentRange? {
        let fields = answer.headers.values(for: "Content-Range")
        guard fields.count == 1, let range = ContentRange(fields[0]), range.first == position,
            range.length == head.bodyLength ?? range.length,
            !answer.mayLackPieces,
            answer.bodyLength ?? (range.last - range.first + 1) == range.last - range.first + 1,
            !answer.headers.contains("Content-Encoding")
        else { return nil }
        switch validator {
        case .entityTag(let tag):
            return answer.headers.values(for: "ETag") == [tag] ? range : nil
        case .lastModified(let date):
            return answer.headers.values(for: "Last-Modified") == [date] ? range : nil
        }
    }

    private static func validator(in headers: HTTPHeaders) -> Validator? {
        let tags = headers.values(for: "ETag")
        if let tag = tags.first {
            // A weak tag may be the same for several representations.
            return tags.count == 1 && isStrong(tag) ? .entityTag(tag) : nil
        }
        let modified = headers.values(for: "Last-Modified")
        guard modified.count == 1, let last = HTTPDate.secondsSince1970(modified[0][...], now: 0),
            let sent = headers.values(for: "Date").first.flatMap({
                HTTPDate.secondsSince1970($0[...], now: 0)
            })
        else { return nil }
        // RFC 9110 section 8.8.2.2 requires a second and clocks that agree; a minute, as in RFC
        // 7232, covers clocks that do not agree.
        return sent.subtractingReportingOverflow(last).partialValue >= 60
            ? .lastModified(modified[0]) : nil
    }

    /// Whether an entity tag is in quotes, without `W/` (RFC 9110 section 8.8.3).
    private static func isStrong(_ tag: String) -> Bool {
        let bytes = Array(tag.utf8)
        guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"")
        else { return false }
        return bytes[1..<(bytes.count - 1)].allSatisfy { $0 == 0x21 || ($0 >= 0x23 && $0 != 0x7F) }
    }
}

/// The broken response that a load continues, if any; indirect, because few loads have one.
indirect enum Resumption: Sendable {
    case none
    case from(BrokenResponse)

    var broken: BrokenResponse? {
        if case .from(let broken) = self { broken } else { nil }
    }

    mutating func beginAttempt() {
        guard case .from(var broken) = self, broken.hasProgressed else { return }
        self = .none
        broken.beginAttempt()
        self = .from(broken)
    }

    /// Takes the bytes that were kept of the body.
    mutating func takePartial() -> Data {
        guard case .from(var broken) = self else { return Data() }
        self = .none
        let partial = broken.partial
        broken.partial = Data()
        self = .from(broken)
        return partial
    }
}
