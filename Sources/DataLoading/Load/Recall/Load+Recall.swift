// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingCache
import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// Asks the cache, plays what it has, and tells it what came.
extension Load {
    /// Asks the cache about the present request.
    func recall(_ epoch: Int) {
        guard let (request, target) = recalling(epoch) else { return }
        let asked = CacheRequest(
            method: request.method, headers: request.headers, policy: request.cachePolicy,
            isRevalidation: request[option: RevalidatesStored.self],
            isApart: request.isApart || choosesCredentials(request),
            authorisers: chosenAuthorisers(request))
        let timekeeper = runtime.timekeeper
        timekeeper.workBegan()
        let key = CacheKey(context.partition, target)
        runtime.cache?.recall(asked, key, at: timekeeper) { recall in
            self.recalled(recall, target, epoch)
            timekeeper.workEnded()
        }
    }

    private func recalled(_ recall: Recall, _ target: RequestTarget, _ epoch: Int) {
        let use = recall.decision.use(recall.stored)
        if let whole = use.flatMap({ whole($0, recall) }) {
            return handle(.answered(whole, epoch: epoch))
        }
        let playing = use.map { self.playing($0, target, recall.moment) }
        handle(.recalled(recall, playing: playing, epoch: epoch))
    }

    /// The fresh success in memory that a load takes as it is; nil when the response must be judged,
    /// handed over in pieces, reported on or refused.
    private func whole(_ use: StoredUse, _ recall: Recall) -> StoredWhole? {
        guard case .answer(let stored, .cache) = use, stored.response.status.isSuccess,
            case .memory(let bytes) = stored.body, Int64(bytes.count) <= runtime.limits.body,
            end.delivery == .whole, reporter == nil
        else { return nil }
        return StoredWhole(
            head: reused(stored, at: recall.moment, isValidated: false),
            body: request.method == .head ? Data() : bytes, recalled: recall)
    }

    private func reused(
        _ stored: StoredAnswer, at now: CacheMoment, isValidated: Bool
    ) -> ResponseHead {
        ResponseHead(
            status: stored.response.status,
            headers: stored.response.reusedHeaders(at: now, isValidated: isValidated))
    }

    /// The authorisers that a request has chosen from those of its factory; nil when it has not.
    private func chosenAuthorisers(_ request: DataLoaderRequest) -> [String]? {
        guard request.hasOptions, !context.authorisers.isEmpty else { return nil }
        if request.skipsAuthorisation { return ["none"] }
        let methods = request.authenticationMethods
        return methods.isEmpty ? nil : methods.map { "method " + $0.rawValue }
    }

    /// Whether an authoriser may make a credential of an option of a request.
    ///
    /// The cache does not see the field that comes of it, so two users' requests would look alike.
    private func choosesCredentials(_ request: DataLoaderRequest) -> Bool {
        request.mayChooseCredentials && !context.authorisers.isEmpty && !request.skipsAuthorisation
    }

    /// Plays a stored response; tells the cache first what the server has said about it.
    func play(
        _ use: StoredUse, _ target: RequestTarget, _ recalled: Recall, _ epoch: Int
    ) {
        switch use {
        case .confirmed(let new, let old, let mayStay):
            runtime.cache?.confirm(old, by: new.response, recalled, mayStay: mayStay)
        case .onError: runtime.cache?.usedOnError()
        case .answer, .notModified: break
        }
        let playing = playing(use, target, CacheMoment(of: runtime.timekeeper))
        handle(.recalled(recalled, playing: playing, epoch: epoch))
    }

    private func playing(
        _ use: StoredUse, _ target: RequestTarget, _ now: CacheMoment
    ) -> AttemptSink {
        let stored = use.stored
        var head = reused(stored, at: now, isValidated: use.source == .validated)
        var body = stored.body
        if case .notModified = use {
            head.status = .notModified
            body = .memory(Data())
        }
        if request.method == .head { body = .memory(Data()) }
        return AttemptSink(
            load: self, origin: target.origin, playing: head, body, use.source,
            begun: now.monotonic)
    }

    /// Stores a whole response.
    func keep(_ kept: KeptResponse) {
        guard let cache = runtime.cache else { return }
        let times = ResponseTimes(
            requested: kept.begun, received: CacheMoment(of: runtime.timekeeper))
        if request.method == .head {
            return cache.noteHead(
                kept.head, times: times, hasQuery: kept.hasQuery, kept.recall,
                authorisedFields: kept.authorisedFields)
        }
        let response = StoredResponse(
            kept.head, request: kept.recall.request.headers, times: times, hasQuery: kept.hasQuery,
            cache.heuristic)
        if let response { cache.keep(response, kept.body, kept.recall) }
    }

    /// Removes what a newer response has made old that is not kept itself.
    func removeStored(_ target: RequestTarget) {
        runtime.cache?.invalidate([target])
    }

    /// Removes what a request of an unsafe method has changed.
    func invalidate(_ head: ResponseHead, _ method: HTTPMethod, _ target: RequestTarget) {
        let urls = Invalidation.urls(after: head, to: method, target) { reference in
            let text = ReferenceResolution.resolve(reference, against: target)
            return try? RequestTarget(text: text)
        }
        runtime.cache?.invalidate(urls)
    }
}

extension DataLoaderRequest {
    /// Whether the response depends on what is neither the URL nor a field: a body, the identity of
    /// the client, or whom it trusts.
    ///
    /// Another request with that URL and these fields must not get it.
    fileprivate var isApart: Bool {
        body != nil || serverTrustPolicy != nil || clientIdentity != nil
    }
}
