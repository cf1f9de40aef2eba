// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// The loads of one key that wait, and what they wait for.
struct Lane: Sendable {
    /// The obstacle that keeps a lane from starting its first load.
    enum Obstacle: Sendable {
        /// Its rate allows the next start at an instant.
        case instant(TimerQueue.Entry)
        /// A change of its rate, which is zero.
        case change
        /// Its origin has reached its connection limit.
        case originLimit
        /// The service has reached its connection limit.
        case totalLimit
        /// It has started its share of this round.
        case anotherTurn
    }

    /// Tells it apart from a lane of the same key that was forgotten.
    let number: UInt64
    let origin: Origin
    var queue = FairQueue<Admission.Candidate>()
    var obstacle: Obstacle?
    /// Its place among the lanes that wait for a connection.
    var place: Int?
    /// Whether the last start of its rule was one of its loads.
    var hadLastStart = false
    /// The latest deadline of all loads that have waited in it.
    private(set) var latestDeadline = Instant(nanoseconds: .min)

    init(number: UInt64, origin: Origin) {
        self.number = number
        self.origin = origin
    }

    mutating func append(_ application: Admission.Application) -> Admission.Ticket {
        latestDeadline = max(latestDeadline, application.candidate.deadline)
        let place = queue.append(
            application.candidate, loader: application.loader, priority: application.priority)
        return Admission.Ticket(key: application.lane, lane: number, place: place)
    }

    /// Gives a waiting load another priority.
    mutating func move(_ ticket: Admission.Ticket, to priority: Priority) {
        if number == ticket.lane { queue.move(ticket.place, to: priority) }
    }

    /// The place of a waiting load; nil when it does not wait here.
    func position(of ticket: Admission.Ticket) -> Int? {
        number == ticket.lane ? queue.position(of: ticket.place) : nil
    }

    /// Removes a waiting load; returns how many are left, or nil when it does not wait here.
    mutating func remove(_ ticket: Admission.Ticket) -> Int? {
        guard number == ticket.lane, queue.remove(ticket.place) != nil else { return nil }
        return queue.count
    }

    /// A load with the wait until its turn.
    typealias Judged = (load: Admission.Candidate, wait: Duration)

    /// Removes and returns the loads that would start after their deadline, and returns those left that
    /// other loads wait for; `wait` is that of the load in a place, nil when it is not known.
    ///
    /// One for which no load can wait takes no place: its loads end, and take it along.
    mutating func removeLate(
        at now: Instant, wait: (_ position: Int) -> Duration?
    ) -> (late: [Judged], shared: [Judged]) {
        var (late, shared): ([Judged], [Judged]) = ([], [])
        // The order of a long lane is only worked out when some load may be late.
        let atEnd = wait(queue.count - 1).map { now + $0 } ?? .distantFuture
        guard queue.contains(where: { $0.earliestDeadline < atEnd }) else { return (late, shared) }
        queue.sift { load, position in
            guard let wait = wait(position) else { return .stays }
            let isLate = load.latestDeadline < now + wait
            if load.waiting.isShared {
                shared.append((load, wait))
                return isLate ? .takesNoPlace : .stays
            }
            if isLate { late.append((load, wait)) }
            return isLate ? .isRemoved : .stays
        }
        return (late, shared)
    }
}

extension Admission.Candidate {
    fileprivate var earliestDeadline: Instant {
        waiting.isShared ? waiting.deadlines.earliest : deadline
    }

    fileprivate var latestDeadline: Instant {
        waiting.isShared ? waiting.deadlines.latest : deadline
    }
}
