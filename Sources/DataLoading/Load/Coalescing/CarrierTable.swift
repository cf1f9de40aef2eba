// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Dispatch

/// The carriers of a factory that loads may still join.
final class CarrierTable: Sendable {
    private let carriers = Locked<[SharedLoadKey: Carrier]>([:])

    /// Adds a load to the carrier of a key; makes one if there is none, which is then to be started.
    func join(
        _ key: SharedLoadKey, _ load: Load, _ epoch: Int, queue: DispatchQueue
    ) -> (Carrier, isNew: Bool) {
        while true {
            let (carrier, isNew) = carriers.withLock { carriers -> (Carrier, Bool) in
                if let present = carriers[key] { return (present, false) }
                let new = Carrier(key, in: self, for: load.registry, queue: queue)
                carriers[key] = new
                return (new, true)
            }
            if carrier.join(load, epoch) { return (carrier, isNew) }
            remove(carrier, key)
        }
    }

    /// Removes a carrier that cannot be joined any more.
    func remove(_ carrier: Carrier, _ key: SharedLoadKey) {
        _ = carriers.withLock { carriers in
            carriers[key] === carrier ? carriers.removeValue(forKey: key) : nil
        }
    }
}
