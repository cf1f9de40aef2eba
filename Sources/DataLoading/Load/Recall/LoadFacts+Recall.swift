// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingCache
import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// A whole response that the cache may store.
struct KeptResponse: Sendable {
    let head: ResponseHead
    let body: Data
    let recall: Recall
    /// When the attempt began.
    let begun: Instant
    let hasQuery: Bool
    /// The fields that authorisers have set in the request.
    let authorisedFields: [String]
}

extension LoadFacts {
    /// Whether the present request asks the cache.
    var mayBeStored: Bool {
        base.method == .get || base.method == .head || base.cachePolicy == .cacheOnly
    }

    /// Whether a response to the present request may change what is stored.
    var mayInvalidate: Bool {
        traits.usesCache && !isPlaying && outgoing.method != .get && outgoing.method != .head
    }

    /// Notes what the cache has said; it is said again when a stored response is played later.
    mutating func note(_ recalled: Recall) {
        if self.recalled !== recalled { count { $0.cacheStatus = CacheStatus(asked: recalled) } }
        self.recalled = recalled
    }

    /// Takes a stored response as that of the load.
    mutating func take(_ whole: StoredWhole) {
        note(whole.recalled)
        isPlaying = true
        count { $0.source = .cache }
        head = whole.head
        body = whole.body
        received = Int64(whole.body.count)
        resumption = .none
    }

    /// Notes what the server has answered to a request that the cache forwarded.
    mutating func noteCacheStatus(of attempt: Attempt, _ keeping: LoadAction?) {
        guard traits.usesCache, !attempt.context.isStored else { return }
        // The answer to HEAD is not stored.
        let isStored = if case .keep = keeping { base.method != .head } else { false }
        count { metrics in
            if let status = attempt.head?.status { metrics.cacheStatus?.forwardStatus = status }
            if isStored { metrics.cacheStatus?.isStored = true }
        }
    }

    /// Whether the URL of the present request has a query.
    var hasQuery: Bool { baseTarget?.pathAndQuery.utf8.contains(UInt8(ascii: "?")) ?? false }

    /// The stored response that may take the place of an error, which is no wish of the caller's;
    /// nil when there is none.
    func stored(inPlaceOf error: DataLoaderError) -> StoredAnswer? {
        guard !hasDelivered, !isPlaying, error.isOfServer else { return nil }
        return recalled?.forErrors
    }

    /// Whether a response may be stored, by its head.
    func mayKeep(_ head: ResponseHead) -> Bool {
        guard let recalled, !isPlaying else { return false }
        // The answer to HEAD tells of the stored answer to GET.
        if base.method == .head { return head.status == .ok && recalled.mayBeTold(of: head) }
        return Storability.allows(
            head, to: recalled.request, at: recalled.moment,
            inPlaceOf: recalled.stored?.response, authorisedFields: authorisedFields)
    }

    /// Whether a stored response may stay after a 304 has changed its fields.
    func mayStay(_ confirmed: StoredResponse) -> Bool {
        confirmed.mayStay(authorisedFields: authorisedFields)
    }

    /// The fields that authorisers have set.
    private var authorisedFields: [String] {
        guard hasParticipants else { return [] }
        return outgoing.headers.fields
            .filter { base.headers.values(for: $0.name) != outgoing.headers.values(for: $0.name) }
            .map(\.name)
    }

    /// What the cache is to do after an attempt that has ended without a failure.
    func keeping(after attempt: Attempt) -> LoadAction? {
        guard traits.usesCache else { return nil }
        if let kept = kept(from: attempt) { return .keep(kept) }
        if isNewer(attempt) { return baseTarget.map { .removeStored($0) } }
        return isRefusal(attempt) ? recalled.map { .dropStored($0) } : nil
    }

    /// Whether an attempt has brought a response in place of a stored one, and is not kept.
    ///
    /// The stored one would otherwise be used as long as it may be used stale.
    private func isNewer(_ attempt: Attempt) -> Bool {
        guard let recalled, recalled.stored != nil, recalled.request.mayStore,
            !attempt.context.isStored, let status = attempt.head?.status,
            status != .partialContent
        else { return false }
        switch attempt.verdict {
        case .deliver, .append: return status.isSuccess || [404, 410].contains(status.rawValue)
        case .discard, .hold, nil: return false
        }
    }

    /// Whether the origin refuses what a stored response answers meanwhile.
    ///
    /// Up to the end of its window no other load would see what the origin says.
    private func isRefusal(_ attempt: Attempt) -> Bool {
        guard let recalled, recalled.stored != nil, recalled.request.isRevalidation,
            !attempt.context.isStored, let status = attempt.head?.status
        else { return false }
        switch attempt.verdict {
        case .deliver, .discard(then: .follow), .discard(then: .finish):
            return [401, 403, 451].contains(status.rawValue)
                || (300...399).contains(status.rawValue) && status != .notModified
        case .append, .discard, .hold, nil: return false
        }
    }

    /// The whole response of an attempt that has ended, if the cache may store it.
    private func kept(from attempt: Attempt) -> KeptResponse? {
        guard let recalled, !attempt.context.isStored, !attempt.isRefused,
            let head = head ?? attempt.head
        else { return nil }
        let body: Data?
        switch attempt.verdict {
        case .deliver: body = attempt.isStreaming ? attempt.copy : attempt.body
        // A body that was put together of parts with one strong validator may be stored (RFC 9111
        // section 3.4). Of one in pieces, what came before the break is not in the copy.
        case .append: body = attempt.isStreaming ? nil : attempt.body
        case .discard, .hold, nil: body = nil
        }
        guard let body, mayKeep(head) else { return nil }
        var begun = attempt.context.begun
        // The age is counted from the request whose response has the head.
        if case .append = attempt.verdict { begun = resumption.broken?.begun ?? begun }
        return KeptResponse(
            head: head, body: body, recall: recalled, begun: begun,
            hasQuery: hasQuery, authorisedFields: authorisedFields)
    }
}

extension DataLoaderError {
    /// Whether the server or the way to it has failed, so that a stored response may take the place
    /// of the error (RFC 5861 section 4).
    fileprivate var isOfServer: Bool {
        switch kind {
        case .status(let status), .proxy(.status(let status)): status.isFailureOfOrigin
        case .dns, .connectRefused, .connectTimeout, .tls, .noResponse, .connectionReset,
            .idleTimeout, .truncatedHead, .truncatedBody, .http2, .transport, .proxy(.dns),
            .proxy(.connectRefused), .proxy(.connectTimeout), .proxy(.tls),
            .proxy(.connectionReset):
            true
        // Without a credential the origin cannot be asked.
        case .cannotAuthenticate: true
        // A refusal, a limit or a deadline of this program must be seen.
        default: false
        }
    }
}
