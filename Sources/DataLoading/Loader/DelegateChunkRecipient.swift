// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation

/// Hands one load to a loader's delegate in chunks, in order, whatever kind of queue it has.
final class DelegateChunkRecipient: RecipientBefore {
    private struct State: Sendable {
        var drain = WindowDrain()
        var response: DataLoaderResponse?
        /// Chunks are missing: whatever the outcome says, the body is not whole.
        var hasLost = false
    }

    private let core: LoaderCore
    private let state = Locked(State())

    init(_ core: LoaderCore) {
        self.core = core
    }

    var base: any Recipient { core }

    var delivery: Delivery { .chunks }

    func didReceiveInitial(_ response: DataLoaderResponse, from exchange: Exchange) {
        state.withLock { state in
            state.drain.window.append(response)
            state.response = response
        }
        drainSoon(exchange)
    }

    func didReceive(_ chunk: Data, from exchange: Exchange) -> Bool {
        let isFull = state.withLock { $0.drain.window.append(chunk) }
        drainSoon(exchange)
        return isFull
    }

    var isFull: Bool { state.withLock { $0.drain.window.isFull } }

    func dropPending() {
        _ = state.withLock { state in
            state.hasLost = true
            return state.drain.window.close()
        }
    }

    func outcomeIsReady(_ exchange: Exchange) {
        let starts = state.withLock { $0.drain.startWithOutcome() }
        if starts { core.queue.async { self.drain(exchange) } }
    }

    private func drainSoon(_ exchange: Exchange) {
        let starts = state.withLock { $0.drain.start() }
        if starts { core.queue.async { self.drain(exchange) } }
    }

    private func drain(_ exchange: Exchange) {
        for _ in 0..<WindowDrain.mostInARow {
            let (step, response) = state.withLock { ($0.drain.next(), $0.response) }
            switch step {
            case .take(let item):
                deliver(item, response)
                guard case .chunk(let data) = item else { continue }
                let opens = state.withLock { $0.drain.window.delivered(data.count) }
                if opens { exchange.windowHasOpened() }
            case .end:
                if state.withLock({ $0.hasLost }) { exchange.bodyWasLost() }
                return core.handOver(exchange)
            case .rest: return
            }
        }
        core.queue.async { self.drain(exchange) }
    }

    private func deliver(_ item: ChunkWindow.Item, _ response: DataLoaderResponse?) {
        guard let (loader, delegate) = core.listener else { return }
        switch item {
        case .initial(let response):
            delegate.dataLoader(loader, didReceiveInitialResponse: response)
        case .chunk(let data):
            guard let response else { return }
            delegate.dataLoader(loader, didReceiveDataChunk: data, forResponse: response)
        }
    }
}
