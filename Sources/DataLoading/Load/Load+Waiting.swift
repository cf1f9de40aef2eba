// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// Continues a load that has waited for its slots.
extension Load: Waiting {
    func admitted(epoch: Int) {
        guard let sending = sending(epoch: epoch) else {
            // The load has ended meanwhile: another load can have the slots.
            if let origin { runtime.admission.leave(origin, slotUse) }
            return
        }
        dial(sending, nil, epoch)
    }

    func mustAskAgain(epoch: Int) { handle(.mustApplyAgain(epoch: epoch)) }

    var isShared: Bool { end.isShared }

    var deadlines: (earliest: Instant, latest: Instant) { end.deadlines(of: self) }

    func waits(for wait: Duration?) {
        guard isQueued else { return }
        if let wait { end.waits(for: wait, self) } else { end.isQueued(self) }
    }

    func refused(epoch: Int, _ error: DataLoaderError) { handle(.failed(error, epoch: epoch)) }
}
