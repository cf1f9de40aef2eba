// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import DataLoadingTransport

extension CurlTransport: ObservableTransport {
    /// Returns when each of its threads has answered.
    package func echo() async { await ask { .echo($0) } }

    /// What its loops do; nothing before the first attempt and after `shutDown`.
    package func snapshot() -> TransportSnapshot {
        let figures = loopHandles.map(\.mailbox.figures)
        let now = LoopClock.now
        return TransportSnapshot(
            openConnections: figures.reduce(0) { $0 + $1.openConnections },
            connections: figures.reduce(into: [:]) {
                $0.merge($1.connectionsByOrigin, uniquingKeysWith: +)
            },
            runningAttempts: figures.reduce(0) { $0 + $1.runningTransfers },
            longestRound: .nanoseconds(figures.map { $0.longestRound(at: now) }.max() ?? 0))
    }
}
