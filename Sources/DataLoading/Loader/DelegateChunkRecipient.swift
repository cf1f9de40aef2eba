// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation

/// Hands one load to a loader's delegate in chunks, in order, whatever kind of queue it has.
///
/// One block at a time works the window off, a few items in a row, so that the other loads of the
/// queue get their turn.
final class DelegateChunkRecipient: Recipient {
    private struct State: Sendable {
        var window = ChunkWindow()
        var response: DataLoaderResponse?
        var isDraining = false
        var outcomeIsReady = false
    }

    /// What is to be done next on the delegate queue.
    private enum Task: Sendable {
        case deliver(ChunkWindow.Item, DataLoaderResponse?)
        case handOver
        case rest
    }

    private static var mostInARow: Int { 16 }

    private let core: LoaderCore
    private let state = Locked(State())

    init(_ core: LoaderCore) {
        self.core = core
    }

    var queue: DispatchQueue { core.queue }

    var delivery: Delivery { .chunks }

    func askForChunkSupport(
        _ exchange: Exchange, _ answer: @escaping @Sendable (Bool) -> Void
    ) {
        core.askForChunkSupport(exchange, answer)
    }

    func askForBodyStream(
        _ exchange: Exchange, _ answer: @escaping @Sendable (OneShotStream?) -> Void
    ) {
        core.askForBodyStream(exchange, answer)
    }

    func isWaitingForConnectivity(_ exchange: Exchange) {
        core.isWaitingForConnectivity(exchange)
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

    var isFull: Bool { state.withLock { $0.window.isFull } }

    func dropPending() {
        state.withLock { $0.window.close() }
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
        for _ in 0..<Self.mostInARow {
            switch next() {
            case .deliver(let item, let response):
                deliver(item, response)
                guard case .chunk(let data) = item else { continue }
                let opens = state.withLock { $0.window.delivered(data.count) }
                if opens { exchange.windowHasOpened() }
            case .handOver: return core.handOver(exchange)
            case .rest: return
            }
        }
        core.queue.async { self.drain(exchange) }
    }

    /// Decides in one step, so that no chunk can come between the last item and the outcome.
    private func next() -> Task {
        state.withLock { state in
            if let item = state.window.takeFirst() { return .deliver(item, state.response) }
            // After the outcome nothing comes, and nothing is to be scheduled any more.
            state.isDraining = state.outcomeIsReady
            return state.outcomeIsReady ? .handOver : .rest
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
