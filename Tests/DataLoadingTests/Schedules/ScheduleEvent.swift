// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// One event of a load or of all loads.
struct ScheduleEvent: Sendable, CustomStringConvertible {
    enum Kind: Sendable {
        /// The authoriser answers.
        case grant
        /// The transport ends its oldest open attempt with a success.
        case finish
        /// The transport ends it with a 503, which is retried.
        case retry
        /// The transport ends it with a redirect.
        case redirect
        case cancel
        /// The load's deadline passes.
        case timeOut
        /// The owner's queue runs what it has.
        case deliver
        /// The factory is reset.
        case reset
        case cancelAll
    }

    let kind: Kind
    let load: Int

    init(_ kind: Kind, load: Int = -1) {
        self.kind = kind
        self.load = load
    }

    var description: String { load < 0 ? "\(kind)" : "\(kind) \(load)" }

    /// The n-th of the permutations of the events.
    static func order(_ number: Int, of events: [ScheduleEvent]) -> [ScheduleEvent] {
        var rest = events
        var number = number
        var order: [ScheduleEvent] = []
        while !rest.isEmpty {
            order.append(rest.remove(at: number % rest.count))
            number /= rest.count + 1
        }
        return order
    }
}
