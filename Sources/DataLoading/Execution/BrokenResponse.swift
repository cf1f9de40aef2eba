// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What is known of a response whose body broke off: enough to ask for the rest, and to know it.
struct BrokenResponse: Sendable {
    /// The head that the rest belongs to.
    let head: ResponseHead
    /// What broke it first.
    let error: DataLoaderError
    /// What was kept of the body of a response that is delivered whole.
    var partial = Data()
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

    /// What the answer to a range means.
    enum Meaning: Equatable {
        /// It is the rest, or the next part of it.
        case rest(ContentRange)
        /// It is the whole from its start.
        case whole
        /// It answers the range, and nothing can be made of it.
        case useless
        /// It says nothing about the range.
        case other
    }

    /// Notes a response that broke; nil when it cannot be resumed.
    init?(_ head: ResponseHead, to request: DataLoaderRequest, error: DataLoaderError) {
        let headers = head.headers
        guard head.status == .ok, request.method == .get, !request.headers.contains("Range"),
            !request.headers.contains("If-Range"), request[option: ResumesBrokenBodies.self],
            !headers.contains("Content-Encoding"),
            headers["Accept-Ranges"]?.equalsIgnoringASCIICase("none") != true,
            let validator = Self.validator(in: headers)
        else { return nil }
        self.head = head
        self.error = error
        self.validator = validator
    }

    /// Makes a request ask for what follows a position.
    func resume(_ request: inout DataLoaderRequest, at position: Int64) {
        request.headers["Range"] = "bytes=\(position)-"
        request.headers["If-Range"] = validator.text
        // The positions are those of the body without a coding.
        if !request.headers.contains("Accept-Encoding") {
            request.headers["Accept-Encoding"] = "identity"
        }
    }

    /// What the answer means when so many bytes are there already.
    func meaning(of answer: ResponseHead, at position: Int64) -> Meaning {
        switch answer.status {
        case .ok:
            // Nobody would decode it: no coding was asked for.
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
            // A weak one stands for several representations.
            return tags.count == 1 && isStrong(tag) ? .entityTag(tag) : nil
        }
        let modified = headers.values(for: "Last-Modified")
        guard modified.count == 1, let last = HTTPDate.secondsSince1970(modified[0][...], now: 0),
            let sent = headers.values(for: "Date").first.flatMap({
                HTTPDate.secondsSince1970($0[...], now: 0)
            })
        else { return nil }
        // RFC 9110 section 8.8.2.2 wants a second and clocks that agree; a minute, which RFC 7232
        // named, covers clocks that do not.
        return sent.subtractingReportingOverflow(last).partialValue >= 60
            ? .lastModified(modified[0]) : nil
    }

    /// An entity tag in quotes, without `W/`, RFC 9110 section 8.8.3.
    private static func isStrong(_ tag: String) -> Bool {
        let bytes = Array(tag.utf8)
        guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"")
        else { return false }
        return bytes[1..<(bytes.count - 1)].allSatisfy { $0 == 0x21 || ($0 >= 0x23 && $0 != 0x7F) }
    }
}

/// Whether a load goes on from a response that broke; kept apart, because few loads do.
indirect enum Resumption: Sendable {
    case none
    case from(BrokenResponse)

    var broken: BrokenResponse? {
        if case .from(let broken) = self { broken } else { nil }
    }

    /// Takes what was kept of the body.
    mutating func takePartial() -> Data {
        guard case .from(var broken) = self else { return Data() }
        self = .none
        let partial = broken.partial
        broken.partial = Data()
        self = .from(broken)
        return partial
    }
}
