// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Dispatch

/// The one load that is sent for several loads, and gives each of them its outcome.
///
/// It is a load of its own, so that any of the others may leave: the last one that does cancels it.
final class Carrier: LoadEnd {
    let queue: DispatchQueue
    /// The loader of the load that made it.
    let loader: LoadRegistry?
    private let key: SharedLoadKey
    private let table: CarrierTable
    private let state = Locked(CarrierState())

    init(
        _ key: SharedLoadKey, in table: CarrierTable, for loader: LoadRegistry, queue: DispatchQueue
    ) {
        self.key = key
        self.loader = loader
        self.table = table
        self.queue = queue
    }

    /// Adds a load; false when the head of the response has arrived, or no load waits any more.
    func join(_ load: Load, _ epoch: Int) -> Bool {
        let hasJoined = state.withLock { state in
            guard state.mayBeJoined else { return false }
            state.add(load, epoch)
            return true
        }
        updatePriority()
        return hasJoined
    }

    /// Notes the load that is sent.
    func started(_ load: Load) {
        let isAbandoned = state.withLock { state in
            guard case .starting = state.stage else { return false }
            state.stage = .running(load)
            return state.members.isEmpty
        }
        if isAbandoned { return load.cancel() }
        updatePriority()
        // For those that joined while it started.
        isQueued(load)
    }

    /// Makes the load that is sent as urgent as the most urgent load that waits for it.
    ///
    /// Only one thread at a time tells the load, and until nothing has changed meanwhile: the last
    /// priority that the load is told is the present one.
    private func updatePriority() {
        guard state.withLock({ $0.urgency.beginTelling() }) else { return }
        while let (load, priority) = state.withLock({ $0.nextPriority() }) {
            load.handle(.carries(priority))
        }
        if let load = state.withLock({ $0.takeUnjudged() }) { isQueued(load) }
    }

    /// Ends a load that has joined, if its deadline passes before the request can start.
    func refuse(_ load: Load, _ epoch: Int) {
        guard let deadline = load.deadline,
            let carrier = state.withLock({ $0.judging() }),
            let wait = carrier.wait(tooLongFor: deadline)
        else { return }
        load.refuse(epoch, becauseOf: wait)
    }

    func deadlines(of load: Load) -> (earliest: Instant, latest: Instant) {
        state.withLock { $0.deadlines }
    }

    func isQueued(_ load: Load) {
        let first = state.withLock { $0.deadlines.earliest }
        guard first < .distantFuture, let wait = load.wait(tooLongFor: first) else { return }
        waits(for: wait, load)
    }

    /// Ends the loads whose deadlines pass before the request can start.
    func waits(for wait: Duration, _ load: Load) {
        let start = load.runtime.timerQueue.now + wait
        let late = state.withLock { state in
            state.inOrder.filter { ($0.load.deadline ?? .distantFuture) < start }
        }
        for member in late { member.load.refuse(member.epoch, becauseOf: wait) }
    }

    /// Removes a load that has ended by itself; the last one ends the carrier.
    ///
    /// - Returns: Whether a server may have got the request, or may get it while others wait.
    func leave(_ load: Load) -> Bool {
        let (last, left) = state.withLock { state -> (Load?, CarrierState.Member?) in
            let left = state.remove(load)
            guard left != nil, state.members.isEmpty else { return (nil, left) }
            state.mayBeJoined = false
            guard case .running(let carrier) = state.stage else { return (nil, left) }
            return (carrier, left)
        }
        // A load is released outside the lock.
        guard left != nil else { return mayHaveSent }
        if !state.withLock({ $0.mayBeJoined }) { table.remove(self, key) }
        last?.cancel()
        updatePriority()
        // Only a cancelled attempt can say whether any of it was sent.
        return mayHaveSent
    }

    /// Whether a server may have got the request, or may get that of the attempt that runs.
    var mayHaveSent: Bool {
        // The load that is sent is asked outside the lock: it has its own.
        switch state.withLock({ $0.stage }) {
        // It may have been sent already, though its start has not returned.
        case .starting: true
        case .running(let load): load.mayHaveSent
        case .over(let mayHaveSent): mayHaveSent
        }
    }

    /// Whether the carrier itself is reported to the observers: no load has taken its bytes.
    var isObserved: Bool { !state.withLock { $0.wasCounted } }

    /// Notes that a load has taken the bytes and times as its own.
    func wasCounted() {
        state.withLock { $0.wasCounted = true }
    }

    var isShared: Bool { true }

    var wantsHeads: Bool { true }

    func headArrived() {
        state.withLock { $0.mayBeJoined = false }
        table.remove(self, key)
    }

    func outcomeIsReady(_ load: Load, by caller: Caller) {
        headArrived()
        queue.async {
            load.handOver { self.distribute($0, mayHaveSent: load.mayHaveBeenProcessed) }
        }
    }

    private func distribute(_ response: DataLoaderResponse, mayHaveSent: Bool) {
        let members = state.withLock { state in
            state.stage = .over(mayHaveSent: mayHaveSent)
            return state.removeAll()
        }
        for member in members {
            // One that has left at the last moment takes nothing: the next one does.
            let shared = SharedResponse(response, isCounted: isObserved, by: self)
            member.load.handle(.shared(shared, epoch: member.epoch))
        }
    }
}

/// The response of a carrier for one of its loads.
struct SharedResponse: Sendable {
    let response: DataLoaderResponse
    /// Whether the load takes the bytes and times as its own; one does at most.
    let isCounted: Bool
    /// Whether a server may have got the request.
    let mayHaveSent: Bool
    /// The load that was sent.
    let carrier: Carrier

    init(_ response: DataLoaderResponse, isCounted: Bool, by carrier: Carrier) {
        self.response = response
        self.isCounted = isCounted
        mayHaveSent = carrier.mayHaveSent
        self.carrier = carrier
    }
}
