// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// Updates the data of a load for each of its steps.
extension LoadFacts {
    /// Removes the changes that authorisers and addresses made for the attempt before.
    mutating func beginAttempt() {
        send(base, authorisedBy: nil)
        isPlaying = false
        if let conditions = recalled?.conditions, resumption.broken == nil {
            for field in conditions.fields { outgoing.headers.add(field.value, for: field.name) }
        }
        resumption.broken?.resume(&outgoing, at: received)
        if asksForIdentity { outgoing.headers["Accept-Encoding"] = "identity" }
        resumption.beginAttempt()
        target = baseTarget
        wasAskedAgain = false
        authorisedAt = nil
        triedAddresses = []
        mustTry = false
        isRefusedByProxy = false
    }

    /// Stores the request that the authorisers returned, and checks it.
    mutating func authorised(
        by chain: AuthoriserChain, at now: Instant
    ) throws(RequestFault) {
        send(chain.request, authorisedBy: chain)
        authorisedAt = now
        guard hasParticipants else { return }
        try RequestCheck.check(outgoing)
        // Authorisers add fields; few change the URL.
        guard outgoing.url != base.url else { return }
        target = try outgoing.target
    }

    /// Whether the credentials may be too old by now to be sent.
    ///
    /// They are when a credential has expired while the load waited for slots, or after 5 s: a
    /// signature or a nonce may not be valid for longer. The authorisers are asked again once in
    /// each attempt.
    func mustAuthoriseAgain(at now: Instant) -> Bool {
        guard hasParticipants, !wasAskedAgain, triedAddresses.isEmpty, let authorisedAt else {
            return false
        }
        if now.nanoseconds(since: authorisedAt) > 5_000_000_000 { return true }
        guard outgoing.hasOptions else { return false }
        return outgoing[option: AuthorisedUntil.self] ?? .distantFuture <= now
    }

    mutating func noteReauthorisation() {
        cause = .reauthorisation
        refusedStamps = chain?.stamps(ofProxy: isRefusedByProxy) ?? [:]
        if isRefusedByProxy { isProxyReauthorised = true } else { isReauthorised = true }
    }

    mutating func follow(_ redirect: Redirection.Next) {
        cause = .redirect
        var request = redirect.request
        // A stream that replaced a body is in `base`, the request that was redirected.
        if request.body != nil { request.body = base.body }
        // Loads may have joined or left after the verdict, which has copied the request.
        request.priority = base.priority
        if let target = baseTarget {
            visits.append(Redirection.Visit(method: base.method, target: target))
        }
        base = request
        baseTarget = redirect.target
        count { $0.redirects += 1 }
        needsFreshConnection = false
        recalled = nil
        resumption = resumption.redirected
        continuePart()
    }

    /// Takes what an earlier load has left.
    mutating func take(_ part: StoredPart?) {
        guard let part else { return }
        resumption = .elsewhere(part)
        continuePart()
    }

    /// Continues the part of an earlier load, if the present URL has sent it.
    private mutating func continuePart() {
        guard case .elsewhere(let part) = resumption, part.belongs(to: base.url) else { return }
        received = part.count
        resumption = .from(BrokenResponse(part))
    }

    /// Whether a body without a content coding is asked for, so that a later load may continue it.
    private var asksForIdentity: Bool {
        traits.resumesFile && mayResume && !base.headers.contains("Accept-Encoding")
    }

    /// Whether a response has a content coding that was not asked for; nothing has decoded it.
    func isCodedUnasked(_ head: ResponseHead) -> Bool {
        asksForIdentity && !isPlaying && head.status.isSuccess
            && head.headers.contains("Content-Encoding")
    }

    /// Whether a response is a part of a body that a sink is to get as a whole.
    ///
    /// Elsewhere its status shows what it is.
    func isPartUnasked(_ head: ResponseHead) -> Bool {
        guard traits.delivery == .pieces || traits.delivery == .restartable,
            head.status == .partialContent, resumption.broken == nil, !asksForPart
        else { return false }
        let type = head.headers["Content-Type"]?.lowercased() ?? ""
        let text = head.headers["Content-Range"]?.lowercased() ?? ""
        guard !type.hasPrefix("multipart/byteranges") else { return true }
        // Some servers have ranges of their own, which are of no bytes.
        guard text.hasPrefix("bytes ") else { return false }
        return ContentRange(text).map { !$0.isWhole } ?? true
    }

    /// Whether the request asks for a part: by `Range`, or in the way of Azure (`x-ms-range`) or S3
    /// (`partNumber`).
    private var asksForPart: Bool {
        outgoing.headers.fields.contains { $0.name.lowercased().hasSuffix("range") }
            || outgoing.url.query()?.lowercased().contains("partnumber=") == true
    }

    /// Puts a new stream in the place of a body stream that was read.
    mutating func replaceBody(by stream: OneShotStream) {
        guard case .oneShot(_, let length) = base.body else { return }
        keepReplaced()
        base.body = .oneShot(stream, length: length)
        outgoing.body = base.body
    }

    /// Notes the address of a failed attempt, and whether its connection caused the failure.
    mutating func note(_ failure: TransportFailure, at candidate: HostResolver.Candidate) {
        if let host = target?.origin.host {
            triedAddresses.insert(candidate.exclusion(forHost: host))
        }
        // The next attempt must not use a connection that became silent or that refuses streams.
        // When a reused connection is stale, other kept connections may be stale as well.
        switch failure.error.kind {
        case .idleTimeout, .http2: needsFreshConnection = true
        case .connectionReset, .noResponse:
            if failure.report.reusedConnection { needsFreshConnection = true }
        default: break
        }
    }

    /// Notes a retry that was decided.
    mutating func noteRetry(_ cost: RetryCost?) {
        cause = resumption.broken == nil ? .retry : .resumption
        retries += 1
        count { $0.retries += 1 }
        retryCost = cost
        hasBegunRetry = false
    }

    /// Takes the cost to return when the load ends before its retry began: no server got a request.
    mutating func takeUnbegunRetry() -> (RetryCost, Origin)? {
        guard !hasBegunRetry, let origin = target?.origin, let cost = retryCost.take() else {
            return nil
        }
        return (cost, origin)
    }

    /// Returns the action that tells an origin's budget of a success.
    mutating func takeSuccess(of origin: Origin) -> LoadAction {
        .noteSuccess(origin, isClean: isClean, retryCost.take())
    }

    /// Returns the action that tells the present origin's budget of a redirect; nil for none.
    ///
    /// The success of a redirect within the origin is counted once, at the load's end; a retry's
    /// cost is returned now.
    mutating func takeSuccess(ofRedirectTo next: Origin) -> LoadAction? {
        guard let origin = target?.origin else { return nil }
        guard isPlaying else {
            return retryCost != nil || origin != next ? takeSuccess(of: origin) : nil
        }
        // The server was not asked for a stored redirect. The cost of its retries is not returned
        // to another one.
        guard origin != next else { return nil }
        if let (cost, origin) = takeUnbegunRetry() { return .refund(cost, origin) }
        retryCost = nil
        return nil
    }

    /// Keeps the data that another attempt needs to continue a response that broke.
    mutating func noteBroken(_ attempt: Attempt, _ error: DataLoaderError) {
        switch attempt.verdict {
        case .deliver:
            guard mayResume, received > 0 || hasDelivered,
                attempt.isStreaming || !traits.isStreaming, let head = attempt.head,
                var broken = BrokenResponse(
                    head, to: base, begun: attempt.context.begun, error: error)
            else { return resumption = .none }
            broken.partial = attempt.body
            broken.noteBreak(at: received, error)
            // It has brought what an earlier attempt had brought already.
            if hasBegunAnew { broken.beginAttempt() }
            resumption = .from(broken)
        case .append:
            guard case .from(var broken) = resumption else { return }
            broken.partial = attempt.body
            broken.noteBreak(at: received, error)
            resumption = .from(broken)
        case nil, .discard, .hold:
            break
        }
    }
}
