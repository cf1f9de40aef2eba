// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingCache
import DataLoadingSupport
import DataLoadingTransport

/// A private cache without a store or a network: it does what the rules say, for one URL, while
/// its clock does not advance between the steps of a history.
struct CacheHistory {
    /// What became of a request.
    struct Outcome: Equatable {
        enum Way: Equatable {
            case reused
            case notModified
            case forwarded
            /// The origin was asked with these conditions, and confirmed the stored response.
            case validated
            case usedOnError
            case failed
            case unavailable
        }

        var way: Way
        var status: HTTPStatus?
        var headers = HTTPHeaders()
        /// The number of the answer whose body was delivered.
        var body: Int?
        /// The fields that the origin got.
        var sent: HTTPHeaders?
    }

    /// What the origin does when it is asked.
    enum Answer {
        case response(HTTPStatus, HTTPHeaders)
        case breaksConnection
    }

    /// The wall clock's seconds at the beginning: 6 November 1994, 08:49:37 UTC.
    static let epoch: Int64 = 784_111_777

    private(set) var list = VariantList<Int>()
    private var answers = 0
    private var elapsed = Duration.zero
    private let hasQuery: Bool
    private let heuristic: HeuristicFreshness

    init(hasQuery: Bool = false, heuristic: HeuristicFreshness = HeuristicFreshness()) {
        self.hasQuery = hasQuery
        self.heuristic = heuristic
    }

    var now: CacheMoment {
        CacheMoment(
            wall: Self.epoch * 1_000 + elapsed.wholeNanoseconds / 1_000_000,
            monotonic: Instant(nanoseconds: elapsed.wholeNanoseconds))
    }

    mutating func wait(_ time: Duration) { elapsed += time }

    /// What is stored for a request.
    func stored(for request: CacheRequest) -> StoredResponse? {
        list.index(for: request.headers).map { list.entries[$0].response }
    }

    func decision(on request: CacheRequest) -> CacheDecision {
        guard let stored = stored(for: request) else {
            return .withoutEntry(request, hasOtherVariants: !list.isEmpty)
        }
        return .with(stored, request, at: now)
    }

    /// Performs a request, with the answer that the origin gives when it is asked.
    ///
    /// An origin that is asked with a condition that holds answers 304 by itself, with the fields
    /// of the answer.
    mutating func perform(_ request: CacheRequest, _ answer: Answer) -> Outcome {
        switch decision(on: request) {
        case .reuse(let reuse):
            let outcome = reused(.reused, request)
            if reuse == .whileRevalidating { revalidate(request, answer) }
            return outcome
        case .notModified:
            var outcome = reused(.notModified, request)
            outcome.status = .notModified
            return outcome
        case .unavailable:
            return Outcome(way: .unavailable)
        case .validate(let fields, let mayUseOnError):
            let sent = HTTPHeaders(request.headers.fields + fields.fields)
            return ask(request, sent, answer, mayUseOnError, isConditional: true)
        case .forward(_, let mayUseOnError):
            return ask(
                request, request.headers, answer, mayUseOnError, isConditional: false)
        }
    }

    private func reused(_ way: Outcome.Way, _ request: CacheRequest) -> Outcome {
        guard let index = list.index(for: request.headers) else { return Outcome(way: .failed) }
        let entry = list.entries[index]
        return Outcome(
            way: way, status: entry.response.status,
            headers: entry.response.reusedHeaders(at: now, isValidated: false), body: entry.body)
    }

    private mutating func revalidate(_ request: CacheRequest, _ answer: Answer) {
        guard let stored = stored(for: request) else { return }
        let fields = stored.validators
        let sent = HTTPHeaders(request.headers.fields + fields.fields)
        _ = ask(request, sent, answer, true, isConditional: !fields.fields.isEmpty)
    }

    private mutating func ask(
        _ request: CacheRequest, _ sent: HTTPHeaders, _ answer: Answer, _ mayUseOnError: Bool,
        isConditional: Bool
    ) -> Outcome {
        guard case .response(let status, let headers) = answer else {
            guard mayUseOnError else { return Outcome(way: .failed, sent: sent) }
            var outcome = reused(.usedOnError, request)
            outcome.sent = sent
            return outcome
        }
        answers += 1
        var head = ResponseHead(status: status, headers: headers)
        let times = ResponseTimes(requested: now.monotonic, received: now)
        let isConfirmed = isConditional && status == .ok && Self.holds(sent, headers)
        if isConfirmed { head.status = .notModified }
        if let index = list.index(for: request.headers), isConditional || mayUseOnError {
            let entry = list.entries[index]
            if head.status == .notModified {
                let confirmed = entry.response.confirmed(
                    by: head, to: request.headers, times: times, hasQuery: hasQuery, heuristic)
                if let confirmed {
                    list.update(index, by: confirmed)
                    return Outcome(
                        way: .validated, status: confirmed.status,
                        headers: confirmed.reusedHeaders(at: now, isValidated: true),
                        body: entry.body, sent: sent)
                }
                // Sent again without conditions.
                head.status = status
            } else if mayUseOnError, head.status.isFailureOfOrigin {
                var outcome = reused(.usedOnError, request)
                outcome.sent = sent
                return outcome
            }
        }
        keep(head, of: request, times)
        return Outcome(
            way: .forwarded, status: head.status, headers: head.headers, body: answers, sent: sent)
    }

    private mutating func keep(
        _ head: ResponseHead, of request: CacheRequest, _ times: ResponseTimes
    ) {
        if let target = try? RequestTarget(text: "http://origin.test/a") {
            let removed = Invalidation.urls(after: head, to: request.method, target) { reference in
                try? RequestTarget(text: reference)
            }
            if removed.contains(target) { list = VariantList() }
        }
        let isAllowed = Storability.allows(
            head, to: request, at: now, inPlaceOf: stored(for: request))
        guard isAllowed,
            let response = StoredResponse(
                head, request: request.headers, times: times, hasQuery: hasQuery, heuristic)
        else { return }
        _ = list.add(.init(response: response, body: answers), for: request.headers)
    }

    /// Whether the conditions that the cache has sent hold for the origin's answer.
    private static func holds(_ sent: HTTPHeaders, _ answer: HTTPHeaders) -> Bool {
        if let tag = sent["If-None-Match"] { return answer["ETag"] == tag }
        if let date = sent["If-Modified-Since"] { return answer["Last-Modified"] == date }
        return false
    }
}
