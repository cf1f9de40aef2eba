// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch

extension Runtime {
    /// The queues on which a service works and calls user code: its own, those of its factories and
    /// those of the present loads' delegates.
    var workQueues: [DispatchQueue] {
        let contexts = contexts.present
        let queues = contexts.flatMap { $0.loads.map(\.end.queue) }
        let delegateQueues = Dictionary(queues.map { (ObjectIdentifier($0), $0) }) { first, _ in
            first
        }
        return [queue] + contexts.map(\.queue) + delegateQueues.values
    }
}
