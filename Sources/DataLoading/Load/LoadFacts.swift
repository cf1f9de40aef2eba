// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// The data of a load that changes, over all its attempts.
struct LoadFacts: Sendable {
    /// Values that a load does not use any more, and whose release may run a user's code.
    struct Replaced: Sendable {
        let request: DataLoaderRequest
        let chain: AuthoriserChain?
        let error: DataLoaderError?
    }

    /// The data of the load that does not change.
    let traits: LoadTraits
    /// The request after redirects, before authorisers.
    var base: DataLoaderRequest
    /// The request after authorisers, as it is sent.
    var outgoing: DataLoaderRequest
    /// The target of `base`.
    var baseTarget: RequestTarget?
    /// The target of `outgoing`.
    var target: RequestTarget?
    /// The number of decoded bytes of the response that were handed on or kept.
    var received: Int64 = 0
    /// The response that broke and is to be continued.
    var resumption = Resumption.none
    /// Whether the server was asked for the rest of a response and has sent the whole.
    var hasBegunAnew = false
    /// Whether a response that breaks may be continued; false once the server has served no range.
    var mayResume = true

    /// What the cache has said about the present request; nil when it was not asked.
    var recalled: Recall?
    /// The instant at which the present attempt began.
    var attemptBegan: Instant?
    /// Whether a stored response is being played.
    var isPlaying = false

    /// The authorisers that were asked about `outgoing`; nil until they have answered.
    private(set) var chain: AuthoriserChain?
    /// What was replaced, until it may be released.
    private var replaced: [Replaced] = []
    /// Whether they were asked again, because the load waited long for its slots.
    var wasAskedAgain = false
    /// The instant at which they had answered.
    var authorisedAt: Instant?
    /// Whether the load was authorised again after a 401; that happens once.
    var isReauthorised = false
    /// Whether the response of the present attempt is the proxy's 407.
    var isRefusedByProxy = false
    /// Whether the load was authorised again after a 407; that happens once.
    var isProxyReauthorised = false
    /// The credentials that this 401 or 407 refused.
    var refusedStamps: AuthoriserChain.Stamps = [:]
    /// The number of retries, over redirects too.
    var retries = 0
    /// The cost of the last retry, returned to the budget when it succeeds or never begins.
    var retryCost: RetryCost?
    /// Whether that retry has begun.
    var hasBegunRetry = false
    /// Addresses tried for the present attempt.
    var triedAddresses: Set<String> = []
    /// Whether the present attempt is made although another load just failed to connect.
    var mustTry = false
    /// Whether the next attempt must not use a connection that was used before.
    var needsFreshConnection = false
    /// Why the next attempt follows another one.
    var cause: AttemptContext.Cause?
    /// The number of attempts that were started, those at further addresses included.
    var starts: Int32 = 0
    /// The pauses while there is no connection; nil before the owner was told that the load waits.
    ///
    /// Few loads have one. Beside the others it would make every load larger than what glibc
    /// allocates without its slow path, 1,032 bytes.
    var connectivityTimer: CopyOnWrite<ExponentialTimer>?
    /// The requests that redirects have replaced so far.
    var visits: [Redirection.Visit] = []

    /// Whether a part of a response was delivered that the load cannot take back; only the rest of
    /// that response may follow it.
    var hasDelivered = false
    /// Whether any part of a request was written to a server, for the load's error.
    var mayHaveBeenProcessed = false
    /// The head of the load's response, once there is one.
    var head: ResponseHead?
    /// The whole body of that response, where the load keeps it.
    var body: Data?
    /// The number of the load among the loads of the process.
    private let number: Int64
    /// The times of stages that are not in the draft yet.
    var times = StageTimes()
    /// What was counted so far; nil until the first attempt, because waiting loads are many.
    private var draft: DataLoaderResponse.Draft?

    /// Makes the data of a load that begins, with its number among the loads of the process.
    init(_ traits: consuming LoadTraits, base: DataLoaderRequest, number: Int64) {
        self.traits = traits
        self.base = base
        outgoing = base
        self.number = number
    }

    /// Replaces the request that is sent, and the authorisers that were asked about it.
    mutating func send(_ request: DataLoaderRequest, authorisedBy chain: AuthoriserChain?) {
        // What `base` shares is not released.
        if self.chain != nil || !outgoing.sharesStorage(with: base) { keepReplaced() }
        outgoing = request
        self.chain = chain
    }

    /// Keeps what is about to be replaced, which may hold users' objects, until no lock is held.
    mutating func keepReplaced(_ error: DataLoaderError? = nil) {
        replaced.append(Replaced(request: outgoing, chain: chain, error: error))
    }

    /// Takes what was replaced, to release it.
    mutating func takeReplaced() -> [Replaced] {
        guard !replaced.isEmpty else { return [] }
        defer { replaced = [] }
        return replaced
    }

    /// Whether an authoriser took part in `outgoing`.
    var hasParticipants: Bool { chain?.hasParticipants == true }

    /// Whether another attempt needs a body that only the owner can make.
    var needsNewBody: Bool {
        if case .oneShot(let stream, _) = base.body { return stream.isTaken }
        return false
    }

    /// Whether no attempt may follow: a part of the response was delivered, and is not to be
    /// continued.
    var isFinal: Bool { hasDelivered && resumption.broken == nil }

    /// The head that was delivered already, and stays the head of the load's response.
    var deliveredHead: ResponseHead? {
        hasDelivered ? resumption.broken?.head : nil
    }

    /// Whether the attempt that broke received enough of the body that its retry is free.
    var hasProgressed: Bool { resumption.broken?.hasProgressed == true }

    /// Whether the next attempt may be skipped when another load just failed to connect.
    var maySpare: Bool { !isFinal && triedAddresses.isEmpty && !mustTry }

    /// The length of a response's body, where its head gives it; nil for the answer to HEAD, a 204
    /// and a 304, which have no body, whatever `Content-Length` says (RFC 9112 section 6.3).
    func bodyLength(_ head: ResponseHead) -> Int64? {
        guard head.status != .noContent, head.status != .notModified, outgoing.method != .head
        else { return nil }
        return head.bodyLength
    }

    /// Whether a body follows whose length its head does not give.
    func hasOpenEnd(_ head: ResponseHead) -> Bool {
        head.bodyLength == nil && head.status != .noContent && head.status != .notModified
            && outgoing.method != .head
    }
}

/// Counts the attempts, bytes and times of a load.
extension LoadFacts {
    /// The times of stages, in nanoseconds.
    struct StageTimes: Sendable {
        var admission: Int64 = 0
        var authorisation: Int64 = 0
        var backOff: Int64 = 0

        fileprivate func add(to metrics: inout LoadMetrics) {
            if admission != 0 { metrics.admissionTime += .nanoseconds(admission) }
            if authorisation != 0 { metrics.authorisationTime += .nanoseconds(authorisation) }
            if backOff != 0 { metrics.backOffTime += .nanoseconds(backOff) }
        }
    }

    /// The attempts, bytes and times by now.
    ///
    /// It is a copy, which `count` does not make.
    var metrics: LoadMetrics {
        var metrics = draft?.metrics ?? LoadMetrics()
        metrics.load = number
        times.add(to: &metrics)
        return metrics
    }

    /// What the context of an attempt is made of, when a transport asks for it.
    struct AttemptPlace: Sendable {
        let load: Int64
        let performed: DataLoaderRequest
        let starts: Int32
        let cause: AttemptContext.Cause?
        let isInternal: Bool
    }

    /// The next attempt's place in the load.
    var attemptPlace: AttemptPlace {
        AttemptPlace(
            load: number, performed: traits.request, starts: starts, cause: cause,
            isInternal: traits.isForAuthoriser)
    }

    var attempts: Int { draft?.attempts ?? 0 }

    var redirects: Int { draft?.redirects ?? 0 }

    /// Whether no attempt of the load has failed.
    var isClean: Bool { draft?.hasFailed != true }

    /// Changes the counts in place.
    @inline(__always) mutating func count(_ change: (inout LoadMetrics) -> Void) {
        if draft == nil { draft = makeDraft() }
        draft?.count(change)
    }

    private func makeDraft() -> DataLoaderResponse.Draft {
        DataLoaderResponse.Draft(traits.request, number: number, begun: traits.begun)
    }

    /// The response in its present state, without a body.
    mutating func response(_ error: DataLoaderError?) -> DataLoaderResponse {
        // Taken out, so that it keeps its one reference.
        var draft = draft.take() ?? makeDraft()
        defer { self.draft = draft }
        draft.count { times.add(to: &$0) }
        times = StageTimes()
        var error = error.map { $0.ending(traits.request, draft.metrics) }
        error?.note {
            $0.context?.sparedRetries = max(0, retries - draft.metrics.retries)
            if mayHaveBeenProcessed { $0.mayHaveBeenProcessed = true }
        }
        return draft.response(error, head, head == nil ? nil : base.url)
    }
}
