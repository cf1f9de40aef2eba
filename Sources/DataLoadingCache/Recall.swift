// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import DataLoadingTransport

/// What the cache has for a request, and what is to be done with it.
///
/// An object, because the data of a load are copied often.
package final class Recall: Sendable {
    package let key: CacheKey
    package let request: CacheRequest
    package let decision: CacheDecision
    /// The stored response that the request chooses.
    package let stored: StoredAnswer?
    /// The moment at which that was decided.
    package let moment: CacheMoment
    /// When the request looked here.
    let stamp: Removals.Stamp

    init(
        key: CacheKey, request: CacheRequest, decision: CacheDecision, stored: StoredAnswer?,
        moment: CacheMoment, stamp: Removals.Stamp
    ) {
        self.key = key
        self.request = request
        self.decision = decision
        self.stored = stored
        self.moment = moment
        self.stamp = stamp
    }

    /// The conditions that are added to the request.
    package var conditions: HTTPHeaders {
        if case .validate(let fields, _) = decision { fields } else { HTTPHeaders() }
    }

    /// The stored response that may be used when the origin cannot answer.
    package var forErrors: StoredAnswer? {
        switch decision {
        case .validate(_, let mayUseOnError), .forward(_, let mayUseOnError):
            mayUseOnError ? stored : nil
        case .reuse, .notModified, .unavailable: nil
        }
    }

    /// Why the request is forwarded to the origin; nil when it is not.
    package var forward: CacheStatus.Forward? {
        switch decision {
        case .reuse, .notModified, .unavailable: nil
        case .forward(let reason, _): reason
        case .validate:
            // What is fresh is only asked about where the request, or the response, wants that.
            isFresh && stored?.response.directives.noCache == false ? .request : .stale
        }
    }

    private var isFresh: Bool {
        stored?.response.remaining(at: moment).map { $0 > .zero } ?? false
    }

    /// Whether the origin was asked about the stored response.
    package var isValidation: Bool {
        if case .validate = decision { true } else { false }
    }

    /// Whether the answer to a HEAD may change what is stored.
    package func mayBeTold(of head: ResponseHead) -> Bool {
        let directives = CacheDirectives(head.headers.values(for: "Cache-Control"))
        return stored != nil && request.mayUse && !request.directives.noStore
            && !directives.noStore
    }

    /// The same without conditions, after a 304 about another response.
    package var withoutConditions: Recall {
        Recall(
            key: key, request: request,
            decision: .forward(.stale, mayUseOnError: forErrors != nil), stored: stored,
            moment: moment, stamp: stamp)
    }

    /// The same without the stored response, which cannot be read; nil when only that may answer.
    package var withoutStored: Recall? {
        guard !request.mustNotGoOn else { return nil }
        return Recall(
            key: key, request: request, decision: .forward(.stale, mayUseOnError: false),
            stored: nil, moment: moment, stamp: stamp)
    }
}

/// A stored response with its body.
package struct StoredAnswer: Sendable {
    package let response: StoredResponse
    package let body: StoredBody

    package init(response: StoredResponse, body: StoredBody) {
        self.response = response
        self.body = body
    }

    /// What is stored for a request.
    enum Found: Sendable {
        case answer(StoredAnswer)
        /// Nothing is stored that the request's fields choose.
        case otherVariants
        case nothing
    }
}

extension StoredAnswer.Found {
    init(_ found: MemoryStore.Found) {
        switch found {
        case .entry(let entry):
            self = .answer(
                StoredAnswer(response: entry.response, body: .memory(entry.body)))
        case .otherVariants: self = .otherVariants
        case .nothing: self = .nothing
        }
    }
}
