// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// Probes: attempts that check whether a server that has spoken HTTP/1.1 speaks HTTP/2 by now.
///
/// A probe does not fail because no connection can be made: the kept connections of HTTP/1.1
/// can still carry its request.
extension CurlLoop {
    /// Returns when a probe is sent over HTTP/1.1 instead; never for other attempts.
    func probeDeadline(_ transfer: CurlTransfer) -> Int64 {
        guard canEndProbe(transfer) else { return .max }
        let start = transfer.state.handedOver
        let half = (transfer.state.connectDeadline &- start) / 2
        return start.addingSaturated(min(routes.times.leaderTime, max(0, half)))
    }

    /// Whether the attempt is a probe without a result, so that it can be sent another way.
    func canEndProbe(_ transfer: CurlTransfer) -> Bool {
        guard transfer.state.routing.isProbe, transfer.state.sends == 0,
            transfer.state.tunnel?.isRefused != true
        else { return false }
        if case .running = transfer.phase { return transfer.task?.isCancelled == false }
        return false
    }

    /// Sends the request of a probe without a result over HTTP/1.1.
    func endProbe(_ transfer: CurlTransfer) {
        guard withdraw(transfer) else { return finish(transfer, .cancelled) }
        transfer.state.routing = ConnectionRouting()
        transfer.state.stop = nil
        transfer.state.hadError = true
        resolve(transfer)
    }
}
