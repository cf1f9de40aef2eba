// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
@testable import DataLoadingAuth
@testable import DataLoadingCurl
@testable import DataLoadingOperations
@testable import DataLoadingSupport
@testable import DataLoadingTransport
import Foundation

/// The conditions of each parser of server input; the first byte of an input selects one.
enum Parsers {
    private static let date = Date(timeIntervalSince1970: 1_767_225_600)

    static func dates(_ input: [UInt8]) {
        let text = String(decoding: input, as: UTF8.self)
        let seconds = HTTPDate.secondsSince1970(text[...], now: 1_767_225_600)
        precondition(seconds.map { (-62_167_219_200...253_402_300_800).contains($0) } ?? true)
    }

    static func retryAfter(_ input: [UInt8]) {
        let text = String(decoding: input, as: UTF8.self)
        let delay = RetryAfter.delay(from: [text], date: date)
        precondition(delay.map { $0 >= .zero && $0 <= .nanoseconds(Int64.max) } ?? true)
        let reset = RetryAfter.rateLimitReset(in: ["X-RateLimit-Reset": text], date: date)
        precondition(reset.map { $0 >= .zero } ?? true)
    }

    static func contentRange(_ input: [UInt8]) {
        guard let range = ContentRange(String(decoding: input, as: UTF8.self)) else { return }
        precondition(0 <= range.first && range.first <= range.last && range.last < range.length)
    }

    static func challenges(_ input: [UInt8]) {
        let text = String(decoding: input, as: UTF8.self)
        let challenges = AuthenticationChallenge.all(in: ["WWW-Authenticate": text])
        precondition(challenges.count <= 32)
        precondition(challenges.allSatisfy { !$0.scheme.isEmpty })
    }

    static func events(_ input: [UInt8]) {
        var parser = EventParser(maxSize: 100)
        parser.add(Data(input))
        while let event = try? parser.next() {
            precondition(event.data.utf8.count <= 300 && !event.event.isEmpty)
            precondition(!event.id.utf8.contains(0) && event.retry ?? .zero >= .zero)
        }
    }

    static func tokenAnswers(_ input: [UInt8]) {
        guard let url = URL(string: "https://a.test") else { return }
        let response = DataLoaderResponse(
            request: DataLoaderRequest(url: url), statusCode: .ok, body: Data(input))
        let credentials = try? TokenAnswer.credentials(response, previous: nil, received: date)
        precondition(credentials.map { !$0.accessToken.isEmpty } ?? true)
    }

    static func endpointHeads(_ input: [UInt8]) {
        switch EndpointHead.read(input) {
        case .incomplete: precondition(input.count < EndpointHead.limit)
        case .refused: break
        case .request(let request, let length):
            precondition(length <= input.count && request.path.first == "/")
            precondition(request.headers.values(for: "Host").count == 1)
        }
    }

    static func traces(_ input: [UInt8]) {
        // The first 55 bytes are the place, the rest is what other systems added.
        let parent = String(decoding: input.prefix(55), as: UTF8.self)
        let state = String(decoding: input.dropFirst(55), as: UTF8.self)
        guard let trace = TraceContext(traceparent: parent, tracestate: state) else { return }
        precondition(trace.traceparent.utf8.count == 55 && trace.tracestate?.count ?? 0 <= 512)
        precondition(TraceContext(traceparent: trace.traceparent) != nil)
    }

    static func location(_ input: [UInt8]) {
        guard let base = try? RequestTarget(text: "https://a.test:8443/b/c?d") else { return }
        let text = String(decoding: input, as: UTF8.self)
        let resolved = ReferenceResolution.resolve(text, against: base)
        guard let target = try? RequestTarget(text: resolved) else { return }
        precondition(target.urlText.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        precondition(ReferenceResolution.resolve(target.urlText, against: base) == target.urlText)
    }

    static func heads(_ input: [UInt8]) {
        var head = ResponseGuard(byteLimit: 2_000, allowsHTTP2: input.count % 2 == 0)
        var rest = input[...]
        while !rest.isEmpty {
            let end = rest.firstIndex(of: 0x0A).map { $0 + 1 } ?? rest.endIndex
            let line = rest[..<end]
            rest = rest[end...]
            do {
                guard let event = try line.withUnsafeBytes({ try head.receive($0) }),
                    case .final(let final) = event
                else { continue }
                precondition((200..<1_000).contains(final.status.rawValue))
                precondition(final.headers.fields.count <= ResponseGuard.fieldLimit)
            } catch {
                return
            }
            precondition(head.bytes <= 2_000)
        }
    }

    static func bodies(_ input: [UInt8]) {
        guard let decoder = try? ContentDecoder.make(contentEncoding: "gzip") else {
            return
        }
        withUnsafeTemporaryAllocation(byteCount: 1_024, alignment: 1) { buffer in
            input.withUnsafeBytes { decoder.append($0) }
            var produced = 0
            // A caller of the decoder stops a bomb; here that is the fuzzer.
            while produced < 1_000_000, case .output(let count)? = try? decoder.decode(into: buffer)
            {
                precondition(count > 0 && count <= buffer.count)
                produced += count
            }
            try? decoder.finish()
        }
    }
}
