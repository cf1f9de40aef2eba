// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// A response whose body broke off, in this load or an earlier one, with the data to ask for the rest
/// and to recognise it.
struct BrokenResponse: Sendable {
    /// The head of the whole response; nil for one of an earlier load.
    let head: ResponseHead?
    /// When the attempt began that brought the head; nil for one of an earlier load.
    let begun: Instant?
    /// The error that broke it first; nil while only an earlier load was broken.
    private(set) var error: DataLoaderError?
    /// The bytes that were kept of a body that is delivered whole.
    var partial = Data()
    /// The number of bytes of the body that were there when the last attempt broke.
    private var position: Int64 = 0
    /// Whether the attempt that broke last received enough bytes that its retry is free.
    private(set) var hasProgressed = false
    private let validator: StrongValidator
    /// The length of the whole body; nil when the server did not tell.
    private let length: Int64?
    /// What an earlier load has left, where this one has not received the rest of it yet.
    private(set) var part: StoredPart?

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
    init?(
        _ head: ResponseHead, to request: DataLoaderRequest, begun: Instant, error: DataLoaderError
    ) {
        let headers = head.headers
        guard !head.mayLackPieces, head.status == .ok, request.method == .get,
            !request.headers.contains("Range"),
            !request.headers.contains("If-Range"), request.resumesBrokenBodies,
            !headers.contains("Content-Encoding"),
            headers["Accept-Ranges"]?.equalsIgnoringASCIICase("none") != true,
            let validator = StrongValidator(of: headers)
        else { return nil }
        self.head = head
        self.begun = begun
        self.error = error
        self.validator = validator
        length = head.bodyLength
    }

    /// Makes it from what an earlier load has left.
    init(_ part: StoredPart) {
        head = nil
        begun = nil
        validator = part.validator
        length = part.length
        position = part.count
        self.part = part
    }

    /// The number of bytes that an attempt must receive so that the retry after it is free.
    ///
    /// The budget limits attempts that receive less: a server that breaks every response after a
    /// few bytes is in trouble, and each attempt costs it a connection.
    static let smallestProgress: Int64 = 65_536

    /// Records that an attempt broke with this number of bytes of the body.
    mutating func noteBreak(at received: Int64, _ error: DataLoaderError) {
        self.error = self.error ?? error
        part = nil
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
            range.length == length ?? range.length,
            !answer.mayLackPieces,
            answer.bodyLength ?? (range.last - range.first + 1) == range.last - range.first + 1,
            !answer.headers.contains("Content-Encoding")
        else { return nil }
        return validator.matches(answer.headers) ? range : nil
    }

    /// The head of the whole response, by that of a range; its fields are those that the server sends
    /// with a range (RFC 9110 section 15.3.7).
    func wholeHead(_ answer: ResponseHead, _ range: ContentRange) -> ResponseHead {
        if let head { return head }
        var whole = ResponseHead(status: .ok, headers: answer.headers)
        whole.headers["Content-Range"] = nil
        whole.headers["Transfer-Encoding"] = nil
        whole.headers["Content-Length"] = "\(range.length)"
        return whole
    }
}

/// The broken response that a load continues, if any; indirect, because few loads have one.
indirect enum Resumption: Sendable {
    case none
    case from(BrokenResponse)
    /// An earlier load has left a part, of another URL than the present one.
    case elsewhere(StoredPart)

    var broken: BrokenResponse? {
        if case .from(let broken) = self { broken } else { nil }
    }

    /// What may be continued after a redirect.
    ///
    /// Its target is another resource than the one that broke, whatever its validator says.
    var redirected: Resumption {
        switch self {
        case .none: .none
        case .elsewhere: self
        case .from(let broken): broken.part.map { .elsewhere($0) } ?? .none
        }
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
