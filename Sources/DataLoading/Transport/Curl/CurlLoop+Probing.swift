// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    /// Where a server has spoken HTTP/1.1, an attempt that looks whether it speaks HTTP/2 by now must
    /// not be lost by that: the connections of HTTP/1.1 that are kept serve it, though no other can be
    /// made.
    extension CurlLoop {
        /// When an attempt that only probes is sent over HTTP/1.1; never for others.
        func probeEnds(_ transfer: CurlTransfer) -> Int64 {
            guard mayLeaveProbe(transfer) else { return .max }
            let start = transfer.attempt.handedOver
            let half = (transfer.attempt.connectDeadline &- start) / 2
            return start.addingSaturated(min(routes.times.leaderTime, max(0, half)))
        }

        /// Whether an attempt has found out nothing so far, so that it can go another way.
        func mayLeaveProbe(_ transfer: CurlTransfer) -> Bool {
            guard transfer.attempt.place.isProbe, transfer.attempt.sends == 0 else { return false }
            if case .running = transfer.phase { return transfer.task?.isCancelled == false }
            return false
        }

        /// Sends an attempt over HTTP/1.1 that has probed in vain.
        func endProbe(_ transfer: CurlTransfer) {
            guard takeBack(transfer) else { return finish(transfer, .cancelled) }
            transfer.attempt.place = CurlPlace()
            transfer.attempt.stop = nil
            transfer.attempt.isWorn = true
            resolve(transfer)
        }
    }
#endif
