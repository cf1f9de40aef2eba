// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

extension Admission {
    /// A place in a lane.
    struct Ticket: Hashable, Sendable {
        let key: LaneKey
        /// The number of the key's lane.
        ///
        /// A lane that was removed and made again numbers its places anew.
        let lane: UInt64
        let place: FairQueue<Candidate>.Ticket
    }

    /// A waiting load, and the epoch of the stage that waits.
    struct Candidate: Sendable {
        let waiting: any Waiting
        let epoch: Int
        /// The instant of the load's deadline, in the distant future without one: an optional is
        /// twice as large, and many loads wait.
        let deadline: Instant

        init(waiting: any Waiting, epoch: Int, deadline: Instant?) {
            self.waiting = waiting
            self.epoch = epoch
            self.deadline = deadline ?? .distantFuture
        }
    }

    /// A load's application for admission.
    struct Application: Sendable {
        let candidate: Candidate
        let key: RuleKey
        let origin: Origin
        let loader: ObjectIdentifier
        let priority: Priority
        /// The kind of connection slot that the load takes.
        var use = SlotUse.shared
        /// Whether the load bypasses the connection limits and waits for its rate only.
        ///
        /// Loads that hold all connections may be waiting for its result.
        var bypassesConnectionLimit = false
        /// Whether the load was in the queue before; a change of rates does not cost it its place.
        var hasWaited = false

        var lane: LaneKey {
            LaneKey(
                rule: key,
                kind: bypassesConnectionLimit ? .unlimited : use == .shared ? .shared : .stream)
        }
    }
}
