// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport

/// The data of a load that does not change.
struct LoadTraits: Sendable {
    /// The request as it was performed.
    let request: DataLoaderRequest
    /// The instant at which it was performed.
    let begun: Instant
    /// The instant of its deadline; nil for none.
    let deadline: Instant?
    /// The way in which the body is handed over.
    let delivery: BodyDelivery
    /// Whether an authoriser makes the load for itself.
    let isForAuthoriser: Bool
    /// Whether the factory's authorisers are asked.
    let isAuthorised: Bool
    /// Whether interceptors answer in place of attempts.
    let isIntercepted: Bool
    /// Whether the request has a retry policy that a user wrote.
    let hasUsersPolicy: Bool
    /// Whether the request has a handler for the progress of the bodies.
    let reportsProgress: Bool
    /// Whether the request's own idle limit is shorter than that of the service.
    let hasShortIdleTimeout: Bool
    /// Whether the request neither ends sooner than the service's limits nor lets a server be silent
    /// for longer.
    let hasUsualPatience: Bool
    /// Whether the load may share the answer to another one's request.
    let mayShare: Bool
    /// Whether the end is told of each head that arrives.
    let tellsHeads: Bool
    /// Whether the service's cache is asked, and told.
    let usesCache: Bool
    /// The maximum number of bytes of a body that the cache keeps.
    let keepLimit: Int
    /// The maximum number of bytes of a body that is delivered whole.
    let bodyLimit: Int64
    /// The maximum number of bytes of a body that is delivered in pieces.
    let streamLimit: Int64

    /// Whether the body is handed on while it arrives, to the owner or to a sink.
    var isStreaming: Bool { delivery != .whole }

    /// Whether the sink may have a part of an earlier load.
    var resumesFile: Bool { delivery == .restartable && request.resumesFile }
}

extension LoadTraits {
    init(
        _ request: DataLoaderRequest, _ base: DataLoaderRequest, _ context: LoadContext,
        _ end: any LoadEnd, begun: Instant, reports: Bool, isForAuthoriser: Bool,
        isIntercepted: Bool
    ) {
        let runtime = context.runtime
        let delivery = end.delivery
        self.request = request
        self.begun = begun
        if let timeout = request.timeout {
            deadline = begun + timeout
        } else {
            let usual = delivery == .whole ? runtime.attempts.total : nil
            deadline = usual.map { begun.advanced(byNanoseconds: $0) }
        }
        self.delivery = delivery
        // A request that only the cache answers is sent to no server.
        isAuthorised =
            base.cachePolicy != .cacheOnly && context.asksAuthorisers(about: request)
        self.isForAuthoriser = isForAuthoriser
        self.isIntercepted = isIntercepted
        hasUsersPolicy = request.hasRetryPolicy && !(request.retryPolicy is BuiltInRetryPolicy)
        reportsProgress = reports
        let usualIdle = runtime.attempts.timeouts.idle
        hasShortIdleTimeout = request.idleTimeout.map { $0 < usualIdle } ?? false
        let usualTotal = runtime.attempts.total.map { Duration.nanoseconds($0) } ?? usualIdle
        hasUsualPatience =
            request.timeout ?? usualTotal >= min(usualTotal, usualIdle)
            && request.idleTimeout ?? usualIdle <= usualIdle
        mayShare =
            delivery == .whole && !isForAuthoriser && !reports && request.coalescing != .none
        tellsHeads = end.wantsHeads
        let cache = isForAuthoriser ? nil : runtime.cache
        usesCache = cache != nil
        keepLimit = cache?.maxBody ?? 0
        bodyLimit = runtime.limits.body
        streamLimit = end.sink?.limit ?? .max
    }
}
