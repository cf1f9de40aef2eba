// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport
import Dispatch
import Foundation

/// One load, from `perform` to its one outcome, which only the load owns.
///
/// One lock guards one `LoadMachine`, which returns the actions for an event. `perform` in
/// `LoadActions.swift` performs them after the lock is released. User code runs on the queue of the
/// load's factory or on the owner's.
final class Load: Sendable {
    /// The request as it was performed.
    let request: DataLoaderRequest
    let context: LoadContext
    let registry: LoadRegistry
    let end: any LoadEnd
    /// Reports the progress of the bodies; nil without a handler.
    let reporter: ProgressReporter?
    let token: CancellationToken
    /// Whether the load is an authoriser's own; other loads wait for its result.
    let isForAuthoriser: Bool
    /// The interceptors through which it goes; nil for none.
    let interceptors: InterceptorChain?
    /// What has started it inside another load; nil for a load of an owner.
    let interception: Interception?
    /// The kind of connection slots that its attempts take.
    let slotUse: SlotUse
    /// Whether the end of its service waits for it.
    let isCounted: Bool
    /// Numbers the loads of the process.
    private static let numbers = Locked<Int64>(0)
    /// The request with the additions of the service and the factory.
    private let base: DataLoaderRequest
    /// The instant at which it times out; nil for none.
    let deadline: Instant?
    private let machine: Locked<LoadMachine>

    var runtime: Runtime { context.runtime }

    init(
        _ request: DataLoaderRequest, context: LoadContext, registry: LoadRegistry,
        end: any LoadEnd, interceptors: InterceptorChain? = nil,
        inside interception: Interception? = nil, isCounted: Bool
    ) {
        self.isCounted = isCounted
        self.request = request
        self.interceptors = interceptors
        self.interception = interception
        self.context = context
        self.registry = registry
        token = CancellationToken(loadNumber: Self.numbers.next())
        self.end = end
        isForAuthoriser = context.isBelowAuthorisers || AuthorisersWork.isCurrent
        slotUse = isForAuthoriser ? .shared : request.slotUse
        // The loads inside an intercepted one report their progress.
        reporter =
            interceptors == nil
            ? ProgressReporter.make(
                for: request, queue: end.queue, timerQueue: context.runtime.timerQueue)
            : nil
        var base = Self.completed(request, context)
        // Of most loads the number is their own, and their options are not copied.
        if let interception { base[option: ReportedLoad.self] = .other(interception.load) }
        if end.isShared { base[option: ReportedLoad.self] = .unknown }
        self.base = base
        let traits = LoadTraits(
            request, base, context, end, begun: context.runtime.timerQueue.now,
            reports: reporter != nil, isForAuthoriser: isForAuthoriser,
            isIntercepted: interceptors != nil)
        deadline = traits.deadline
        machine = Locked(
            LoadMachine(LoadFacts(consume traits, base: base, number: token.loadNumber)))
        token.bind(to: self)
    }

    /// Returns the request with the additions of the service and the factory.
    private static func completed(
        _ request: DataLoaderRequest, _ context: LoadContext
    ) -> DataLoaderRequest {
        var base = request
        if context.isOffline { base.cachePolicy = .cacheOnly }
        if request.hasOptions {
            // An authoriser may perform the request that it was asked about: the values of that
            // load are removed.
            base[option: AuthorisedUntil.self] = AuthorisedUntil.defaultValue
            base[option: CredentialStamps.self] = CredentialStamps.defaultValue
            base[option: ProxyCredential.self] = ProxyCredential.defaultValue
            base[option: ReportedLoad.self] = ReportedLoad.defaultValue
            // The library's authorisers mark the requests of their own loads; these marks are kept.
            if !context.isBelowAuthorisers {
                base[option: NeedsLoopbackPeer.self] = NeedsLoopbackPeer.defaultValue
            }
        }
        if let userAgent = context.runtime.attempts.userAgent,
            !request.headers.contains("User-Agent")
        {
            base.headers.add(userAgent, for: "User-Agent")
        }
        if let type = request.body?.contentType, !request.headers.contains("Content-Type") {
            base.headers.add(type, for: "Content-Type")
        }
        return base
    }

    /// Starts the load, or ends it with the reason why it may not start.
    func begin(refusal: DataLoaderError?) {
        let target = Result { () throws(RequestFault) in try RequestCheck.target(of: self.base) }
        let timer =
            refusal == nil
            ? deadline.map { runtime.timerQueue.schedule(at: $0, for: self, tag: Self.deadlineTag) }
            : nil
        handle(.begin(target, refusal: refusal, deadline: timer))
    }

    /// Handles an event, and performs the actions that follow from it.
    func handle(_ event: LoadEvent) {
        var actions = LoadActionList()
        // What the event replaces is released after the lock: it holds users' objects.
        _ = machine.withLock { machine in
            machine.handle(event, &actions, at: runtime.timerQueue.now)
            return machine.takeReplaced()
        }
        perform(&actions, for: event.caller)
    }

    /// Handles the end of an attempt.
    func attemptEnded(
        _ attempt: AttemptSink, _ report: TransportReport, _ failure: TransportFailure?
    ) {
        var actions = LoadActionList()
        _ = machine.withLock { machine in
            machine.ended(attempt, report, failure, &actions, at: runtime.timerQueue.now)
            return machine.takeReplaced()
        }
        perform(&actions, for: attempt.caller)
    }

    private func perform(_ actions: inout LoadActionList, for caller: Caller) {
        var held = performOnce(&actions, for: caller)
        // A loop, without recursion: the server decides how many pieces there are.
        while let attempt = held {
            _ = machine.withLock { machine in
                machine.handle(.takeHeld(attempt), &actions, at: runtime.timerQueue.now)
                return machine.takeReplaced()
            }
            held = performOnce(&actions, for: .other)
        }
    }

    /// Performs actions; returns the attempt whose held events are to be taken, if any.
    private func performOnce(
        _ actions: inout LoadActionList, for caller: Caller
    ) -> AttemptSink? {
        var held: AttemptSink?
        actions.drain { action in
            if case .takeHeld(let attempt) = action {
                held = attempt
            } else {
                perform(action, for: caller)
            }
        }
        return held
    }

    /// Ends the load from outside: by a cancellation, a reset or the end of the service.
    ///
    /// It replaces an outcome that was not taken.
    func cancel(as error: DataLoaderError = .cancelled) {
        handle(.endFromOutside(error))
    }

    /// Ends loads from outside, beginning with those that wait for a slot.
    ///
    /// The end of a load gives its slot to a waiting load, which must not be sent only to be
    /// cancelled. No interceptor may turn the end of a load inside into an outcome.
    static func endAll(_ loads: [Load], as error: DataLoaderError) {
        for load in loads where load.interceptors != nil {
            load.machine.withLock { $0.interception }?.close()
        }
        let waiting = loads.filter { $0.machine.withLock { $0.isApplying } }
        for load in waiting { load.cancel(as: error) }
        for load in loads { load.cancel(as: error) }
    }

    /// Whether a shut-down cancels the load when it begins, because the load may never end by
    /// itself.
    var mayStreamForEver: Bool {
        guard !isForAuthoriser else { return false }
        return machine.withLock { !$0.isEnding && (slotUse == .stream || $0.hasOpenEnd) }
    }

    /// The attempts, bytes and times by now.
    var metrics: LoadMetrics { machine.withLock { $0.facts.metrics } }

    /// Whether a server may have got the request.
    var mayHaveBeenProcessed: Bool { machine.withLock { $0.facts.mayHaveBeenProcessed } }

    /// Whether a server may have got the request, or may get that of the attempt that runs.
    var mayHaveSent: Bool { machine.withLock { $0.mayHaveSent } }

    /// Whether the load has its outcome, taken or not.
    var isEnding: Bool { machine.withLock { $0.isEnding } }

    /// Whether the load has ended with a success that was not taken.
    var isSuccess: Bool { machine.withLock { $0.isSuccess } }

    /// The response that observers see; nil before the load is over.
    var report: DataLoaderResponse? { machine.withLock { $0.report } }

    /// The request of the next attempt; nil when the epoch has passed.
    func sending(epoch: Int) -> Sending? { machine.withLock { $0.sending(epoch: epoch) } }

    /// Whether the load waits in the queue for its slots.
    var isQueued: Bool { machine.withLock { $0.ticket != nil } }

    /// The wait for the slots, if the load is in the queue and the wait ends after a deadline.
    func wait(tooLongFor deadline: Instant) -> Duration? {
        machine.withLock { $0.ticket }.flatMap {
            runtime.admission.wait(of: $0, tooLongFor: deadline)
        }
    }

    /// The priority with which the load waits for its slots.
    var priority: Priority { machine.withLock { $0.facts.base.priority } }

    /// The data of the load; nil when the epoch has passed.
    func facts(epoch: Int) -> LoadFacts? { machine.withLock { $0.facts(epoch: epoch) } }

    /// The request that authorisers are asked about; nil when the epoch has passed.
    func asking(_ epoch: Int) -> (DataLoaderRequest, refused: AuthoriserChain.Stamps)? {
        machine.withLock { $0.asking(epoch) }
    }

    /// The request that the cache is asked about; nil when the epoch has passed.
    func recalling(_ epoch: Int) -> (DataLoaderRequest, RequestTarget)? {
        machine.withLock { $0.recalling(epoch) }
    }

    /// Whether authorisers are asked in an epoch.
    func isAuthorising(_ epoch: Int) -> Bool { machine.withLock { $0.isAuthorising(epoch) } }

    /// The data of the load; nil when the attempt is over.
    func facts(of attempt: AttemptSink) -> LoadFacts? {
        machine.withLock { $0.facts(of: attempt) }
    }

    /// The origin of the present attempt.
    var origin: Origin? { machine.withLock { $0.origin } }

    /// Whether there is room for more of a response.
    func mayGoOn(_ context: AttemptSink) -> Bool {
        !end.isFull && !machine.withLock { $0.isHeldBack(context) }
    }

    /// Hands the outcome over, unless it was taken or there is none.
    ///
    /// The load is removed from its loader first: cancelling it has no effect from then on.
    func handOver(_ deliver: (DataLoaderResponse) -> Void) {
        guard case (var response, let isFinal)? = machine.withLock({ $0.take() }) else { return }
        response.retryAfter = retryAfter(response.headers)
        let position = registry.remove(self)
        token.unbind()
        addBodyFile(to: &response)
        deliver(response)
        if let position { registry.outcomeWasHandedOver(position) }
        let retryAfter = response.retryAfter
        guard machine.withLock({ $0.handedOver(retryAfter: retryAfter) }) else { return }
        tellObservers(of: isFinal ? response : report)
    }

    /// The date from which the server accepts another request, by `Retry-After`.
    func retryAfter(_ headers: HTTPHeaders) -> Date? {
        // Most responses have no such field, and reading the clock costs.
        guard headers.contains("Retry-After") else { return nil }
        let date = runtime.timekeeper.date
        let delay = RetryAfter.delay(in: headers, date: date)
        return delay.map { date.addingTimeInterval($0.inSeconds) }
    }

    /// Adds the file that holds the body to the response of a success.
    func addBodyFile(to response: inout DataLoaderResponse) {
        guard response.error == nil, let file = end.sink?.file else { return }
        response.bodyFile = file
    }
}

extension Load: TimerTarget {
    private static let deadlineTag = -1

    func timerFired(_ tag: Int) {
        handle(tag == Self.deadlineTag ? .deadlineHasPassed : .timeIsOver(epoch: tag))
    }
}
