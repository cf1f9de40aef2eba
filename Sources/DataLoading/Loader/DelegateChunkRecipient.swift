// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation

/// Hands one load to a loader's delegate in chunks, in order, whatever kind of queue it has.
///
/// One block at a time works the window off, so a concurrent delegate queue does not mix chunks up.
final class DelegateChunkRecipient: Recipient {
    private struct State: Sendable {
        var window = ChunkWindow()
        var response: DataLoaderResponse?
        var isDraining = false
        var outcomeIsReady = false
    }

    private let core: LoaderCore
    private let state = Locked(State())

    init(_ core: LoaderCore) {
        self.core = core
    }

    var queue: DispatchQueue { core.queue }

    func askForChunkSupport(_ answer: @escaping @Sendable (Bool) -> Void) {
        core.askForChunkSupport(answer)
    }

    func askForBodyStream(
        _ request: DataLoaderRequest, _ answer: @escaping @Sendable (OneShotStream?) -> Void
    ) {
        core.askForBodyStream(request, answer)
    }

    func isWaitingForConnectivity(_ request: DataLoaderRequest) {
        core.isWaitingForConnectivity(request)
    }

    func didReceiveInitial(_ response: DataLoaderResponse, from exchange: Exchange) {
        state.withLock { state in
            state.window.append(response)
            state.response = response
        }
        drainSoon(exchange)
    }

    func didReceive(_ chunk: Data, from exchange: Exchange) -> Bool {
        let isFull = state.withLock { $0.window.append(chunk) }
        drainSoon(exchange)
        return isFull
    }

    func dropPending() {
        state.withLock { $0.window.removeAll() }
    }

    func outcomeIsReady(_ exchange: Exchange) {
        state.withLock { $0.outcomeIsReady = true }
        drainSoon(exchange)
    }

    private func drainSoon(_ exchange: Exchange) {
        let starts = state.withLock { state in
            defer { state.isDraining = true }
            return !state.isDraining
        }
        if starts { core.queue.async { self.drain(exchange) } }
    }

    private func drain(_ exchange: Exchange) {
        while let (item, response) = next() {
            deliver(item, response)
            guard case .chunk(let data) = item else { continue }
            let opens = state.withLock { $0.window.delivered(data.count) }
            if opens { exchange.windowHasOpened() }
        }
        if state.withLock({ $0.outcomeIsReady }) { core.handOver(exchange) }
    }

    /// The next item; without one the draining is over, and said to be so in the same step.
    private func next() -> (ChunkWindow.Item, DataLoaderResponse?)? {
        state.withLock { state in
            guard let item = state.window.takeFirst() else {
                // After the outcome nothing comes, and nothing is to be scheduled any more.
                state.isDraining = state.outcomeIsReady
                return nil
            }
            return (item, state.response)
        }
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
