// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The loads that wait for one request, and the load that is sent: what is under a carrier's lock.
struct CarrierState: Sendable {
    struct Member: Sendable {
        let load: Load
        let epoch: Int
        /// The number of those that came before.
        let arrival: Int
    }

    enum Stage: Sendable {
        /// The carrier's load is not started yet.
        case starting
        case running(Load)
        case over(mayHaveSent: Bool)
    }

    var stage = Stage.starting
    /// The loads that wait.
    private(set) var members: [ObjectIdentifier: Member] = [:]
    private var arrivals = 0
    var mayBeJoined = true
    var urgency = Urgency()
    /// Whether the thread that tells priorities has to judge the loads: one has joined meanwhile, or
    /// the request has become less urgent.
    private var hasUnjudged = false
    /// Whether a load has taken the bytes and times as its own.
    var wasCounted = false

    /// The loads that wait, in the order in which they came.
    var inOrder: [Member] { members.values.sorted { $0.arrival < $1.arrival } }

    mutating func add(_ load: Load, _ epoch: Int) {
        members[ObjectIdentifier(load)] = Member(load: load, epoch: epoch, arrival: arrivals)
        arrivals += 1
        urgency.add(load.request.priority)
    }

    mutating func remove(_ load: Load) -> Member? {
        guard let member = members.removeValue(forKey: ObjectIdentifier(load)) else {
            return nil
        }
        urgency.remove(load.request.priority)
        return member
    }

    mutating func removeAll() -> [Member] {
        defer { members = [:] }
        return inOrder
    }

    /// The earliest and the latest deadline, in the distant future without one.
    var deadlines: (earliest: Instant, latest: Instant) {
        var (earliest, latest) = (Instant.distantFuture, Instant?.none)
        for member in members.values {
            let deadline = member.load.deadline ?? .distantFuture
            earliest = min(earliest, deadline)
            latest = max(latest ?? deadline, deadline)
        }
        return (earliest, latest ?? .distantFuture)
    }

    /// The load whose place a load that has joined is judged by; nil when another thread judges it,
    /// which is about to give it another place, or to start it.
    mutating func judging() -> Load? {
        guard case .running(let load) = stage else { return nil }
        guard urgency.isTelling else { return load }
        hasUnjudged = true
        return nil
    }

    /// The load that is sent, if the loads are to be judged now.
    mutating func takeUnjudged() -> Load? {
        guard hasUnjudged, case .running(let load) = stage else { return nil }
        hasUnjudged = false
        return load
    }

    /// The load that is sent, and the priority that it has to be told next; nil, which ends the
    /// telling, if there is none.
    mutating func nextPriority() -> (Load, Priority)? {
        let told = urgency.told
        guard case .running(let load) = stage, let priority = urgency.next() else {
            urgency.endTelling()
            return nil
        }
        if let told, priority < told { hasUnjudged = true }
        return (load, priority)
    }
}
