// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What a load has become so far, over all its attempts.
struct LoadProgress: Sendable {
    /// The request after redirects, before authorisers.
    var base: DataLoaderRequest
    /// The request after authorisers, as it is sent.
    var outgoing: DataLoaderRequest
    /// Where `base` goes.
    var baseTarget: RequestTarget?
    /// Where `outgoing` goes.
    var target: RequestTarget?
    /// When `perform` was called.
    let begun: Instant
    /// When the deadline passes, nil for none.
    var deadline: Instant?
    /// The deadline's entry in the agenda.
    var deadlineEntry: Agenda.Entry?
    /// Whether the body is handed on while it arrives, to the owner or to a sink.
    let streams: Bool
    /// How many decoded bytes of the response were handed on or are kept.
    var received: Int64 = 0
    /// The response that broke and is to be continued.
    var resumption = Resumption.none
    /// Whether a response that breaks may be continued; not again once a server has served no range.
    var mayResume = true

    /// The tasks of asynchronous authorisers that are asked about the attempt.
    var authorisationTasks: [Task<Void, Never>] = []
    /// The authorisers that took part in `outgoing`.
    var participants: [any Authoriser] = []
    /// Whether the load was authorised again after a 401; that happens once.
    var isReauthorised = false
    /// What it was refused with then.
    var refusedStamps: [ObjectIdentifier: CredentialStamp] = [:]
    /// How many retries were made, over redirects too.
    var retries = 0
    /// What the last retry took from the budget, given back when it succeeds, or is never begun.
    var retryCost: RetryBudget.Cost?
    /// Whether that retry has begun.
    var hasBegunRetry = false
    /// Addresses tried for the present attempt.
    var triedAddresses: Set<String> = []
    /// Whether the present attempt is made although others have just found no connection.
    var mustTry = false
    /// Whether the next attempt must not use a connection that was used before.
    var needsFreshConnection = false
    /// The pauses while there is no connection, once the delegate was told that the load waits.
    var connectivityTimer: ExponentialTimer?
    /// Where redirects have led so far.
    var visits: [Redirection.Visit] = []

    /// Whether any part of a response has been delivered: nothing is retried after that.
    var hasDelivered = false
    /// Whether anything was written to any server, for `mayHaveBeenProcessed`.
    var mayHaveBeenProcessed = false
    /// The head that the load ended with.
    var head: ResponseHead?
    /// The whole body that the load ended with.
    var body: Data?
    /// How many attempts there are whose end the transport has not reported yet.
    var openAttempts = 0
    /// When the present stage began, for the metrics.
    var stageBegan: Instant
    /// Since when the load waits for its factory's queue, to be authorised.
    var queuedSince: Instant?
    /// Whether the time of an attempt that was never sent is counted before its end is reported.
    var hasCountedConnecting = false
    var metrics = LoadMetrics()
    /// What the response that was taken says of its end; the observers are told the same.
    var end: (error: DataLoaderError?, retryAfter: Date?) = (nil, nil)
    /// Whether the outcome was handed over; the load is reported when its attempts are closed too.
    var isHandedOver = false
    /// Whether the observers were told.
    var isReported = false

    /// Whether another attempt needs a body that only the owner can make.
    var needsNewBody: Bool {
        if case .oneShot(let stream, _) = base.body { return stream.isTaken }
        return false
    }

    /// Forgets what authorisers and addresses made of the attempt before.
    mutating func beginAttempt() {
        outgoing = base
        resumption.broken?.resume(&outgoing, at: received)
        if !refusedStamps.isEmpty { outgoing[option: RefusedStamps.self] = refusedStamps }
        target = baseTarget
        participants = []
        triedAddresses = []
        mustTry = false
    }

    init(request: DataLoaderRequest, now: Instant, deadline: Instant?, streams: Bool) {
        base = request
        outgoing = request
        begun = now
        stageBegan = now
        self.deadline = deadline
        self.streams = streams
    }
}
